import { buildApi } from '#app/api-role.ts';
import { AlignedClock } from '#core/clock.ts';
import { openDatabase } from '#db/database.ts';
import { openIdKey } from '#db/id-key.ts';
import { connectWakeups } from '#db/wakeups.ts';
import { stderrLog } from '#observability/log.ts';
import { deriveKey, readConfig } from '#settings/config.ts';
import { settling } from '#testkit/fixtures/settlement/settling.ts';

/**
 * Runs an API process configured as in production but without chains, for bench/api.ts to measure.
 */
const config = readConfig(process.env, ['--roles', 'api']);
const db = openDatabase({
  url: config.databaseUrl ?? '',
  maxConnections: config.maxConnections,
});
const secret = Buffer.alloc(32, 7);
const idKey = await openIdKey(db, deriveKey(secret, 'id key'));
const parts = { config, secret, idKey, db, log: stderrLog() };
const wakeups = await connectWakeups(db);
const clock = new AlignedClock();
const app = await buildApi({
  ...parts,
  wakeups,
  clock,
  chains: [],
  readiness: settling,
  defaultPass: null,
});
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.send?.({ port: typeof address === 'object' ? address?.port : 0 });
process.on('message', () => process.send?.({ memory: process.memoryUsage().rss }));
process.on('disconnect', () => process.exit());
