import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  finishRecovery,
  holdRecovery,
  noteEnded,
  RecoveryLost,
  type RecoveryRun,
  requestRecovery,
  takeRecovery,
} from '#settlement/network-recovery-queries.ts';
import { selectCompared } from '#settlement/reconciliation/reconcile-queries.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const LEASE_MS = 60_000;

const database = databaseForTests(4);
const ask = () =>
  requestRecovery(database.db, {
    livemode: false,
    requestCount: null,
    reason: 'position',
    lossShown: true,
  });
const take = (owner: string) =>
  takeRecovery(database.db, { livemode: false, owner, leaseMs: LEASE_MS });
const work = (run: RecoveryRun) => database.db.transaction((tx) => holdRecovery(tx, run, LEASE_MS));
const finish = (run: RecoveryRun) => {
  const end = { clusterId: 'system/1', comparedBlock: 7n, now: new Date() };
  return database.db.transaction((tx) => finishRecovery(tx, run, end));
};
const endLease = () =>
  database.db.query(`update network_recoveries set lease_until = now() - interval '1 second'`);

test('one of two workers recovers a network, and changes nothing without its lease', async () => {
  await ask();
  const both = await Promise.all([take('one'), take('two')]);
  const first = both.find((run) => run !== null);
  assert.ok(first !== undefined && first !== null);
  assert.equal(both.filter((run) => run !== null).length, 1);
  await work(first);
  await endLease();
  const other = first.owner === 'one' ? 'two' : 'one';
  const second = await take(other);
  assert.ok(second !== null && second.fencing_token > first.fencing_token);
  await assert.rejects(work(first), RecoveryLost);
  assert.equal(await finish(first), false);
  await work(second);
  assert.equal(await finish(second), true);
  assert.equal(await take('one'), null);
});

test('a recovery does not end if it was requested again meanwhile', async () => {
  await ask();
  const run = await take('one');
  assert.ok(run !== null);
  await ask();
  assert.equal(await finish(run), false);
  const again = await take('one');
  assert.ok(again !== null);
  assert.equal(await finish(again), true);
});

test('everything is compared again after a recovery', async () => {
  await database.db.query(
    `insert into reconciliation_cursors
       (livemode, next_block, updated, compared_block, compared_at)
     values (false, 9, now(), 9, now())`,
  );
  assert.notEqual(await selectCompared(database.db, false), null);
  await ask();
  const run = await take('one');
  assert.ok(run !== null);
  assert.equal(await finish(run), true);
  assert.equal(await selectCompared(database.db, false), null);
});

test('ended credentials are counted by kind, over all runs of a recovery', async () => {
  await ask();
  const note = (ended: Record<string, number>) =>
    database.db.transaction((tx) => noteEnded(tx, false, ended));
  await note({ invitations: 2, 'agent tokens': 1 });
  await note({ invitations: 1 });
  await note({});
  const rows = await database.db.query(
    'select credentials, ended from network_recoveries where not livemode',
  );
  assert.deepEqual(rows, [{ credentials: 4, ended: { invitations: 3, 'agent tokens': 1 } }]);
});
