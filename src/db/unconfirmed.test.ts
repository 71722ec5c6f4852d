import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CommitUnknown, type Database, openDatabase } from '#db/database.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { type RunningPostgres, startPostgres } from '#sandbox/start-postgres.ts';
import {
  openTemporaryFolder,
  type TemporaryFolder,
} from '#testkit/fixtures/db/temporary-folder.ts';

/** PostgreSQL reports a commit as successful even if it stopped waiting for the standby. */

let temporary: TemporaryFolder;
let server: RunningPostgres;
let db: Database;

before(async () => {
  temporary = await openTemporaryFolder('tapline-unconfirmed');
  const { folder } = temporary;
  // Names a standby that never connects, so commits that request its confirmation wait forever.
  const standby = { synchronous_standby_names: 'nobody', synchronous_commit: 'local' };
  const settings = { ...standby, wal_level: 'replica', max_wal_senders: '1' };
  server = await startPostgres({ folder, log: () => {}, settings });
  db = openDatabase({ url: server.url, maxConnections: 4 });
  await db.query('create table notes (text text)');
});

after(async () => {
  await db.close();
  await server.stop();
  await temporary.remove();
});

/** Ends the commits' waits for the standby, as a statement time-out or a server's shutdown does. */
async function giveUpWaiting(): Promise<void> {
  const waiting = async () =>
    db.query<{ pid: number }>(`select pid from pg_stat_activity where wait_event = 'SyncRep'`);
  await waitUntil(async () => (await waiting()).length > 0, 5_000);
  for (const { pid } of await waiting()) await db.query('select pg_cancel_backend($1)', [pid]);
}

test('the outcome of a transaction that no standby has confirmed is unknown', async () => {
  const written = db.transaction(async (tx) => {
    await tx.query('set local synchronous_commit = on');
    await tx.query(`insert into notes values ('one')`);
  });
  const rejected = assert.rejects(written, CommitUnknown);
  await giveUpWaiting();
  await rejected;
});

test('the outcome is also unknown if the commit was sent with the last statement', async () => {
  const written = db.transaction(async (tx) => {
    await tx.query('set local synchronous_commit = on');
    tx.finish(tx.query(`insert into notes values ('two')`));
  });
  const rejected = assert.rejects(written, CommitUnknown);
  await giveUpWaiting();
  await rejected;
});
