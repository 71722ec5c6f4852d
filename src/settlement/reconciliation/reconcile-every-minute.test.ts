import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/clock.ts';
import { connectWakeups, type Wakeups } from '#db/wakeups.ts';
import { silentLog } from '#observability/log.ts';
import { askIfUnknown } from '#settlement/reconciliation/reconcile-every-minute.ts';
import {
  type DifferenceRow,
  saveDifferences,
} from '#settlement/reconciliation/reconcile-queries.ts';
import { type TestDatabase, testDatabase } from '#testkit/fixtures/db/database.ts';
import { startTestNetwork, type TestNetwork } from '#testkit/network/test-network.ts';

let database: TestDatabase;
let network: TestNetwork;
let wakeups: Wakeups;

before(async () => {
  [database, network] = await Promise.all([testDatabase(4), startTestNetwork()]);
  wakeups = await connectWakeups(database.db);
});
after(async () => {
  await wakeups.close();
  await network.stop();
  await database.close();
});

const UNKNOWN = { kind: 'refund_unknown_here', subject: '7/0x07', details: { chain: {} } };
const LATER = { kind: 'payment_unknown_here', subject: '8', details: { chain: {} } };
const FOREIGN = { kind: 'withdrawal_unknown_here', subject: '9', details: { chain: {} } };

/** Stores these differences, as a reconciliation that finds them does. */
async function find(...results: DifferenceRow[]): Promise<{ requests: number; alarms: string[] }> {
  const { db } = database;
  await db.transaction((tx) => saveDifferences(tx, false, results, systemClock.now()));
  await askIfUnknown({ db, clock: systemClock, wakeups, log: silentLog }, network.chain);
  const [row] = await db.query<{ request_count: bigint }>(
    'select request_count from network_recoveries where not livemode',
  );
  const alarms = await db.query<{ alarm: string }>(
    `select kind || ' ' || subject as alarm from chain_alarms where not livemode`,
  );
  return { requests: Number(row?.request_count), alarms: alarms.map(({ alarm }) => alarm) };
}

/** Ends the recovery without resolving any difference. */
async function endRecovery(): Promise<void> {
  await database.db.query(
    `update network_recoveries set status = 'done', finished = now() where not livemode`,
  );
}

test('differences that remain after a recovery are left to operators', async () => {
  const first = await find(UNKNOWN);
  assert.deepEqual(first.alarms, []);
  await endRecovery();
  const uncured = { requests: first.requests, alarms: ['not_recovered refund 7/0x07'] };
  assert.deepEqual(await find(UNKNOWN), uncured);
  assert.deepEqual(await find(UNKNOWN), uncured);
});

test('a difference found after a recovery requests another recovery', async () => {
  const before = await find(UNKNOWN);
  const counts = await find(UNKNOWN, LATER);
  assert.deepEqual(counts, { requests: before.requests + 1, alarms: before.alarms });
  await endRecovery();
  const uncured = [...before.alarms, 'not_recovered payment 8'];
  assert.deepEqual(await find(UNKNOWN, LATER), { ...counts, alarms: uncured });
});

test('a refund waits for a payment that is being settled, through all recoveries', async () => {
  const { db } = database;
  const number = 4_711;
  await db.query(
    `with intent as (
       insert into payment_intents (id, account_id, livemode, position, created, amount,
         terminal_id, order_id, metadata, source, expires_at, status, attempt, settlement_number)
       values ('pi_slow', 'acct_test', false, 1, now(), 9, 'tml_test', 'SLOW', '{}', 'api', now(),
         'processing', '{}', $1)
     )
     insert into chain_requests (livemode, kind, subject_id, number, payload, status, created)
     values (false, 'payment', 'pi_slow', $1, '{}', 'queued', now())`,
    [number],
  );
  const refund = { ...UNKNOWN, subject: `${number}/0x01`, details: { chain: { number } } };
  const before = await find(refund, { ...LATER, subject: '10' });
  await endRecovery();
  assert.deepEqual(await find(refund), before, 'nothing could book it yet');
  await db.query(`update chain_requests set status = 'succeeded', outcome = '{}', applied_at = now()
    where subject_id = 'pi_slow'`);
  const counts = { ...before, requests: before.requests + 1 };
  assert.deepEqual(await find(refund), counts);
  await endRecovery();
  const alarms = [...before.alarms, `not_recovered refund ${number}/0x01`];
  assert.deepEqual(await find(refund), { ...counts, alarms });
});

test('events that operators accept are booked by the next recovery', async () => {
  const { db } = database;
  const before = await find(FOREIGN);
  await db.query(`insert into accounts (id, name, created) values ('acct_f', 'F', now())`);
  await db.query(
    `insert into foreign_settlements (livemode, kind, number, tx_hash, log_index, block_number,
       account_id, address, amount, found)
     values (false, 'withdrawal', 9, '0x09', 0, 1, 'acct_f', '0xab', 5, now())`,
  );
  await endRecovery();
  assert.deepEqual(await find(FOREIGN), before, 'no decision was made');
  await db.query(`update foreign_settlements set decision = 'accepted'`);
  const counts = { ...before, requests: before.requests + 1 };
  assert.deepEqual(await find(FOREIGN), counts);
});
