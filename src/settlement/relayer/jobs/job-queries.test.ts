import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { type Alarm, insertAlarms } from '#settlement/alarms.ts';
import {
  replaceOutcome,
  requeue,
  reviveDeclined,
  selectKnownOutcomes,
  writeOutcomes,
} from '#settlement/relayer/jobs/job-queries.ts';
import { raiseNextNonce } from '#settlement/sender-rows.ts';
import { type SettledInBlock, upsertChainPayments } from '#settlement/settled/settled-queries.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { databaseForTests } from '#testkit/fixtures/db/database-for-tests.ts';

const database = databaseForTests(4);
/** The id of the transaction that carries the job. */
let own: bigint;
let other: bigint;
let requestId: bigint;

beforeEach(async () => {
  const { db } = database;
  await db.query('delete from chain_requests');
  await db.query('delete from chain_transactions');
  await db.query('delete from relayer_senders');
  await db.query(
    `insert into relayer_senders (livemode, sender, role, address, next_nonce)
     values (false, 0, 'operator', '0x1', 5), (false, 1, 'operator', '0x2', 5)`,
  );
  const rows = await db.query<{ id: bigint }>(
    `insert into chain_transactions
       (livemode, sender, nonce, kind, status, created, target, input, gas_limit)
     select false, 0, nonce, 'payment', 'signed', now(), '0x', '', 1
     from generate_series(0, 1) nonce returning id`,
  );
  [own = 0n, other = 0n] = rows.map(({ id }) => id);
  const [request] = await db.query<{ id: bigint }>(
    `insert into chain_requests
       (livemode, kind, subject_id, number, payload, status, transaction_id, created)
     values (false, 'payment', 'pi_test', 1, '{}', 'submitted', $1, now()) returning id`,
    [own],
  );
  requestId = request?.id ?? 0n;
});
const state = async () => {
  const rows = await database.db.query(
    'select status, transaction_id, tries from chain_requests where id = $1',
    [requestId],
  );
  return rows[0];
};
const SUBMITTED = () => ({ status: 'submitted', transaction_id: own, tries: 0 });

test('a result is stored by the transaction of its job, and by no other', async () => {
  const write = (transactionId: bigint | null) =>
    database.db.transaction((tx) =>
      writeOutcomes(tx, [{ requestId, transactionId, result: { succeeded: true } }]),
    );
  assert.deepEqual(await write(other), []);
  assert.deepEqual(await write(null), []);
  assert.deepEqual(await state(), SUBMITTED());
  assert.deepEqual(await write(own), [requestId]);
  assert.deepEqual(await write(own), [], 'it has its outcome');
});

test('a job is queued again from its own transaction, and from no other', async () => {
  const again = (transactionId: bigint) =>
    database.db.transaction((tx) => requeue(tx, [{ requestId, transactionId }]));
  const retired = () =>
    database.db.query<{ id: bigint }>('select id from chain_transactions where retired');
  await again(other);
  assert.deepEqual(await state(), SUBMITTED());
  assert.deepEqual(await retired(), []);
  await again(own);
  assert.deepEqual(await state(), { status: 'queued', transaction_id: null, tries: 1 });
  assert.deepEqual(await retired(), [{ id: own }]);
});

/** Ends the job with a result, which is applied if `appliedAt` is set. */
async function end(status: 'succeeded' | 'failed', appliedAt: Date | null): Promise<void> {
  await database.db.query(
    `update chain_requests set status = $2, outcome = '{}', applied_at = $3 where id = $1`,
    [requestId, status, appliedAt],
  );
}

const ended = async () => {
  const rows = await database.db.query<{ status: string; outcome: unknown; applied: boolean }>(
    'select status, outcome, applied_at is not null as applied from chain_requests where id = $1',
    [requestId],
  );
  return rows[0];
};

test('the correction of a result waits for the worker that is applying it', async () => {
  await end('succeeded', null);
  const first = await underWay(database.db, (tx) =>
    tx.query('update chain_requests set applied_at = now() where id = $1', [requestId]),
  );
  const second = database.db.transaction((tx) => selectKnownOutcomes(tx, [requestId]));
  await waitingForLocks(database.db, 1);
  await first.commit();
  assert.deepEqual(
    (await second).map(({ applied }) => applied),
    [true],
  );
});

test('a result can be corrected until it is applied, then only its position', async () => {
  const result = { succeeded: false };
  const replace = () => database.db.transaction((tx) => replaceOutcome(tx, { requestId, result }));
  await end('succeeded', new Date());
  await replace();
  assert.deepEqual(await ended(), { status: 'succeeded', outcome: {}, applied: true });
  const moved = { succeeded: true };
  await database.db.transaction((tx) => replaceOutcome(tx, { requestId, result: moved }));
  assert.deepEqual(await ended(), { status: 'succeeded', outcome: moved, applied: true });
  await end('succeeded', null);
  await replace();
  assert.deepEqual(await ended(), { status: 'failed', outcome: result, applied: false });
});

test('only a declined payment is revived, to be applied again', async () => {
  const outcome = { succeeded: true };
  const revive = () => database.db.transaction((tx) => reviveDeclined(tx, requestId, outcome));
  await end('succeeded', new Date());
  await revive();
  assert.deepEqual(await ended(), { status: 'succeeded', outcome: {}, applied: true });
  await end('failed', new Date());
  await revive();
  assert.deepEqual(await ended(), { status: 'succeeded', outcome, applied: false });
});

test("a sender's next nonce is raised to the chain's, and never lowered", async () => {
  const { db } = database;
  const raise = (nextNonce: bigint) =>
    db.transaction((tx) => raiseNextNonce(tx, { livemode: false, sender: 0, nextNonce }));
  const nonces = () => db.query('select sender, next_nonce from relayer_senders order by sender');
  await raise(9n);
  const raised = [
    { sender: 0, next_nonce: 9n },
    { sender: 1, next_nonce: 5n },
  ];
  assert.deepEqual(await nonces(), raised);
  await raise(7n);
  assert.deepEqual(await nonces(), raised);
});

test('one alarm per kind and subject is open, with its first details', async () => {
  const { db } = database;
  const raise = (...alarms: readonly Alarm[]) =>
    db.transaction((tx) => insertAlarms(tx, false, alarms, new Date()));
  const alarm = (kind: string, number: bigint) => ({ kind, subject: 'pi_1', details: { number } });
  const alarms = () =>
    db.query(`select kind, details->>'number' as number from chain_alarms order by id`);
  await raise();
  assert.deepEqual(await alarms(), []);
  await raise(alarm('number_taken', 2n ** 60n), alarm('number_taken', 2n), alarm('unread', 3n));
  const raised = [
    { kind: 'number_taken', number: '1152921504606846976' },
    { kind: 'unread', number: '3' },
  ];
  assert.deepEqual(await alarms(), raised);
  await raise(alarm('number_taken', 4n));
  assert.deepEqual(await alarms(), raised);
  await db.query('update chain_alarms set resolved_at = now()');
  await raise(alarm('number_taken', 5n));
  assert.deepEqual(await alarms(), [...raised, { kind: 'number_taken', number: '5' }]);
});

test('all settlements of a long range of blocks are stored, in several statements', async () => {
  const count = 1_201;
  const settled = Array.from({ length: count }, (_, n): SettledInBlock => {
    const fees = { feeAcquirer: 1n, feeProtocol: 1n, cashback: 0n };
    const block = { blockNumber: 1n, blockHash: '0x3' } as const;
    const position = { txHash: '0x1', logIndex: n, ...block } as const;
    const sale = { payer: '0x2', merchantNumber: 1n, amount: 9n, orderId: `o${n}` } as const;
    const payment = { event: 'PaymentSettled', number: BigInt(n + 1), batchNumber: 1n } as const;
    return { payment: { ...payment, ...sale, ...fees, ...position }, blockTime: new Date() };
  });
  const { db } = database;
  await db.transaction((tx) => upsertChainPayments(tx, false, settled));
  const rows = await db.query('select order_id from chain_payments order by number');
  assert.deepEqual(
    rows,
    settled.map(({ payment }) => ({ order_id: payment.orderId })),
  );
});
