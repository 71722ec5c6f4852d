import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { newId } from '#core/ids.ts';
import { openDatabase } from '#db/database.ts';
import { migrate } from '#db/migrate.ts';
import { startPostgres } from '#sandbox/start-postgres.ts';
import { openTemporaryFolder } from '#testkit/fixtures/db/temporary-folder.ts';
import { addTestMerchant } from '#testkit/fixtures/payments/merchants.ts';
import { STORE_INTENTS, STORED_INTENTS } from './floors.ts';

/**
 * Runs one side of bench/compare.ts: a durable PostgreSQL, a merchant with stored intents, and an
 * API process, all from the working tree that contains this file. bench/compare.ts copies this file
 * into an earlier tree, so it may only use modules that exist there, too. Its arguments are the
 * flags for the API process.
 */
const temporary = await openTemporaryFolder('tapline-compare');
const postgres = await startPostgres({ folder: temporary.folder, log: () => {} });
const db = openDatabase({ url: postgres.url, maxConnections: 4 });
await migrate(db);
const merchant = await addTestMerchant(db, { now: new Date() });
const now = new Date();
await db.query(
  `insert into webhook_endpoints
     (id, account_id, livemode, url, enabled_events, api_version, secret, created, updated)
   values ($1, $2, false, 'https://example.com/', '{*}', '2026-09-28', $3, $4, $4)`,
  [newId('webhookEndpoint', now), merchant.accountId, randomBytes(60), now],
);
await db.query(STORE_INTENTS, [merchant.accountId, merchant.test.terminal, STORED_INTENTS]);
await db.query('vacuum analyze payment_intents');
const server = fork(join(import.meta.dirname, 'api-server.ts'), {
  env: { ...process.env, DATABASE_URL: postgres.url, RATE_LIMIT: '100000000/1' },
  execArgv: process.argv.slice(2),
});
const [{ port }] = (await once(server, 'message')) as [{ port: number }];
const { key, terminal } = merchant.test;
process.send?.({ port, key, terminal, databaseUrl: postgres.url });
process.on('message', async () => {
  await db.query('checkpoint');
  process.send?.({ ready: true });
});
process.on('disconnect', async () => {
  server.disconnect();
  await db.close();
  await postgres.stop();
  await temporary.remove();
  process.exit();
});
