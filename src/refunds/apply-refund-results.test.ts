import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { type Log, silentLog } from '#observability/log.ts';
import type { Payment } from '#payments/payment.ts';
import { renderPayment } from '#payments/render.ts';
import { applyRefundOutcomes } from '#refunds/apply-refund-results.ts';
import type { Refund } from '#refunds/refund.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import { renderRefund } from '#refunds/render.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { firstPage } from '#testkit/fixtures/db/first-page.ts';
import { newRequest, openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import {
  addPayment,
  addStore,
  eventTypes,
  findPayment,
  lastData,
  lastSnapshot,
  playRefunds,
  see,
} from '#testkit/fixtures/payments/store-payments.ts';
import { refund } from '#testkit/fixtures/payments/store-requests.ts';

let clock: FakeClock;
let store: TestStore;
let payment: Payment;
const shared = openForTests(openStore);
beforeEach(async () => {
  clock = new FakeClock();
  store = await addStore(shared, clock);
  payment = await addPayment(store, 1_000);
});

async function refunds(): Promise<Refund[]> {
  const search = { tenant: store.merchant.tenant, paymentId: payment.id };
  return selectRefundPage(store.db, search, firstPage());
}

/** Requests a refund and returns it once it is pending; `answer` resolves with the result. */
async function addPending(amount: number, idempotency = newRequest(store)) {
  const before = (await refunds()).length;
  const answer = refund(store, { paymentId: payment.id, amount, idempotency }).then(see);
  for (;;) {
    const [newest, ...rest] = await refunds();
    if (newest !== undefined && rest.length === before) return { id: newest.id, answer };
  }
}

async function readPayment(): Promise<Payment> {
  const result = await findPayment(store, payment.payment_intent_id);
  assert.ok(result !== undefined);
  return result;
}

test('a refund that succeeds is booked, sends its events in order, and is answered', async () => {
  const { id, answer } = await addPending(400);
  assert.equal((await readPayment()).amount_reserved, 400n);
  assert.equal((await readPayment()).amount_refunded, 0n);
  clock.advance(900);
  await playRefunds(store);
  const seen = await answer;
  const [booked] = await refunds();
  assert.ok(booked !== undefined);
  assert.deepEqual(seen.body, renderRefund(booked, store.pages));
  assert.equal(seen.body.updated, clock.now().toISOString());
  assert.deepEqual(await eventTypes(store, id), [
    'refund.created',
    'refund.updated',
    'refund.succeeded',
  ]);
  assert.deepEqual((await eventTypes(store)).slice(-1), ['payment.refunded']);
  assert.deepEqual(await lastSnapshot(store, 'refund.succeeded'), seen.body);
  const refunded = await readPayment();
  assert.deepEqual(
    await lastSnapshot(store, 'payment.refunded'),
    renderPayment(refunded, store.pages),
  );
  assert.equal(refunded.amount_refunded, 400n);
});

test('a refund that fails releases its reserved amount, and has a failure code', async () => {
  const { id, answer } = await addPending(400);
  await playRefunds(store, 'insufficient_balance');
  const { body } = await answer;
  assert.deepEqual([body.status, body.failure_code], ['failed', 'insufficient_balance']);
  assert.deepEqual(await eventTypes(store, id), [
    'refund.created',
    'refund.updated',
    'refund.failed',
  ]);
  const { amount_reserved: amountReserved, amount_refunded: amountRefunded } = await readPayment();
  assert.deepEqual([amountReserved, amountRefunded], [0n, 0n]);
  const again = await addPending(1_000);
  await playRefunds(store);
  assert.equal((await again.answer).said, 'succeeded');
});

test('any other failure of the chain is transaction_reverted', async () => {
  const { answer } = await addPending(400);
  await playRefunds(store, 'settlement_failed');
  assert.equal((await answer).body.failure_code, 'transaction_reverted');
});

test('refund.updated has the previous values', async () => {
  const { answer } = await addPending(400);
  await playRefunds(store);
  await answer;
  const data = await lastData(store, 'refund.updated');
  assert.deepEqual(data.previous_attributes, {
    status: 'pending',
    tx_hash: null,
    receipt_url: null,
    receipt_number: null,
  });
  assert.equal(data.object.status, 'succeeded');
  assert.match(String(data.object.receipt_number), /^R[2-9A-Z]{4}-1$/);
});

test('a result is booked once, with any number of workers', async () => {
  const pending = [await addPending(100), await addPending(200)];
  await store.db.query(
    `update chain_requests set status = 'succeeded', outcome = $1::text::jsonb
     where kind = 'refund' and status = 'queued'`,
    [JSON.stringify({ succeeded: true, facts: { txHash: '0x01' } })],
  );
  await Promise.all(Array.from({ length: 5 }, () => applyRefundOutcomes(store)));
  await applyRefundOutcomes(store);
  await Promise.all(pending.map(({ answer }) => answer));
  assert.equal((await readPayment()).amount_refunded, 300n);
  const told = (await eventTypes(store)).filter((type) => type === 'payment.refunded');
  assert.equal(told.length, 2);
});

test('two refunds of one payment that end together show two sums', async () => {
  const pending = [await addPending(100), await addPending(200)];
  await playRefunds(store);
  await Promise.all(pending.map(({ answer }) => answer));
  const rows = await store.db.query<{ body: string }>(
    `select body from events where type = 'payment.refunded' and account_id = $1
     order by position`,
    [store.merchant.tenant.accountId],
  );
  const sums = rows.map((row) => JSON.parse(row.body).data.object.amount_refunded);
  assert.equal(sums[1], 300);
  assert.ok([100, 200].includes(sums[0]), String(sums[0]));
});

test('refunds are listed in the order of creation, newest first', async () => {
  const made = [];
  for (let i = 1; i <= 3; i++) made.push(await addPending(i));
  await playRefunds(store);
  await Promise.all(made.map(({ answer }) => answer));
  const amounts = (await refunds()).map(({ amount }) => amount);
  assert.deepEqual(amounts, [3n, 2n, 1n]);
});

test('a request whose process died gets the result when it retries', async () => {
  const idempotency = newRequest(store);
  const lost = await addPending(400, idempotency);
  // Simulates a second process that receives the same request.
  const request = { paymentId: payment.id, amount: 400, idempotency, requestId: 'req_2' };
  const ask = async () => see(await refund(store, request));
  assert.equal((await ask()).said, 'idempotency_request_in_progress');
  await playRefunds(store);
  const again = await ask();
  assert.deepEqual(again, { ...(await lost.answer), replayed: true });
});

test('a result that matches no pending refund raises an alarm, and books nothing', async () => {
  const { id, answer } = await addPending(400);
  await playRefunds(store);
  await answer;
  await store.db.query(
    `insert into chain_requests
       (livemode, kind, subject_id, number, payload, status, outcome, created)
     select livemode, kind, subject_id, 199, payload, 'failed', $2::text::jsonb, created
     from chain_requests where subject_id = $1`,
    [id, JSON.stringify({ succeeded: false, reason: 'transaction_reverted', txHash: null })],
  );
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (message) => errors.push(message) };
  await applyRefundOutcomes({ ...store, log });
  await applyRefundOutcomes({ ...store, log });
  assert.equal(errors.length, 1);
  const alarms = await store.db.query(
    `select subject, details->>'kind' as kind, details->>'status' as status from chain_alarms
     where kind = 'outcome_unfit' and resolved_at is null`,
  );
  assert.deepEqual(alarms, [{ subject: id, kind: 'refund', status: 'succeeded' }]);
  assert.equal((await refunds())[0]?.status, 'succeeded');
  assert.equal((await readPayment()).amount_reserved, 400n);
});
