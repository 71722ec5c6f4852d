import { buildApi } from '#api-role.ts';
import { readConfig } from '#config.ts';
import { AlignedClock } from '#core/clock.ts';
import { stderrLog } from '#core/log.ts';
import { openDatabase } from '#db/database.ts';
import { connectWakeups } from '#db/wakeups.ts';
import { settling } from '#testing/settling.ts';

/** An API process as it runs in production, without chains: what bench/api.ts measures. */
const config = readConfig(process.env, ['--roles', 'api']);
const db = openDatabase({
  url: config.databaseUrl ?? '',
  maxConnections: config.maxConnections,
});
const parts = { config, secret: Buffer.alloc(32, 7), db, log: stderrLog() };
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
