import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { addMs } from '#core/clock.ts';
import { findReplay } from '#idempotency/run-once-per-key.ts';
import { type Log, silentLog } from '#observability/log.ts';
import { applySettlements } from '#payments/apply-settlements.ts';
import { FAILURE_DECLINES } from '#payments/decline-codes.ts';
import { selectIntent } from '#payments/intent-queries.ts';
import { beginSeriesAnew } from '#payments/receipt-numbers.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import type { FailureReason } from '#settlement/chain-requests.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { holdKey } from '#testkit/fixtures/db/idempotency-keys.ts';
import {
  newRequest,
  openSale,
  openStore,
  pay,
  playChain,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import {
  addStore,
  eventTypes,
  findPayment,
  type JsonObject,
  lastSnapshot,
  see,
} from '#testkit/fixtures/payments/store-payments.ts';

let clock: FakeClock;
let store: TestStore;
const shared = openForTests(openStore);
beforeEach(async () => {
  clock = new FakeClock();
  store = await addStore(shared, clock);
});

/** Adds an intent that was tapped and waits for the chain, and whose client has disconnected. */
async function addProcessing(expiresIn = 120) {
  const { intentId, pass, payer } = await openSale(store, { expiresIn });
  await pay(store, { intentId, pass, hangUp: true });
  return { intentId, pass, payer };
}

async function readIntent(id: string): Promise<JsonObject> {
  const intent = await selectIntent(store.db, store.merchant.tenant, id);
  assert.ok(intent !== null);
  return renderIntent(intent);
}

/** Stores the same result for all settlement jobs, without applying it. */
async function answerAll(outcome: object): Promise<void> {
  await store.db.query(
    `update chain_requests set status = 'failed', outcome = $1::text::jsonb
     where status = 'queued'`,
    [JSON.stringify(outcome)],
  );
}

const NOT_SETTLED = { succeeded: false, reason: 'settlement_failed', txHash: null };

test("a settled payment has the chain's facts, and what the payer paid", async () => {
  const { intentId, payer } = await addProcessing();
  await playChain(store);
  const payment = await findPayment(store, intentId);
  assert.ok(payment !== undefined);
  const shown = renderPayment(payment, store.pages);
  const { amount, fees, total_charged, net, cashback_status, payer: address, status } = shown;
  assert.deepEqual(
    { amount, fees, total_charged, net, cashback_status, address, status },
    {
      amount: 2_500_000,
      fees: { acquirer: 7_500, protocol: 5_000, cashback: 1_250 },
      total_charged: 2_512_500,
      net: 2_500_000,
      cashback_status: 'paid',
      address: payer.address,
      status: 'succeeded',
    },
  );
  assert.deepEqual(shown.payment_method, { type: 'wallet_pass', credential: 'nfc_id' });
  const days = (Date.parse(String(shown.refundable_until)) - clock.now().getTime()) / 86_400_000;
  assert.equal(days, 180);
  const intent = await readIntent(intentId);
  assert.deepEqual(
    [intent.status, intent.payment, intent.tx_hash],
    ['succeeded', shown.id, shown.tx_hash],
  );
});

test('if blocks share a second, it settles when its block was seen, after its tap', async () => {
  const tappedAt = clock.now();
  const settledAt = async (seenAt: Date) => {
    const { intentId } = await addProcessing();
    await playChain(store, undefined, { seenAt: seenAt.toISOString() });
    const payment = await findPayment(store, intentId);
    return payment?.settled_at;
  };
  assert.deepEqual(await settledAt(addMs(tappedAt, 123)), addMs(tappedAt, 123));
  // Now settles a payment through a worker whose clock is behind.
  assert.deepEqual(await settledAt(addMs(tappedAt, -5_000)), tappedAt);
});

test('its events come in the order of the steps, with the objects as they were', async () => {
  const { intentId } = await addProcessing();
  await playChain(store);
  assert.deepEqual(await eventTypes(store), [
    'payment_intent.created',
    'payment_intent.processing',
    'payment_intent.succeeded',
    'payment.succeeded',
    'payment.cashback_paid',
  ]);
  const snapshot = await lastSnapshot(store, 'payment_intent.succeeded');
  assert.deepEqual(snapshot, await readIntent(intentId));
  const payment = await findPayment(store, intentId);
  assert.ok(payment !== undefined);
  assert.deepEqual(
    await lastSnapshot(store, 'payment.succeeded'),
    renderPayment(payment, store.pages),
  );
});

test('receipts count from 1 at each terminal, without gaps, under concurrency', async () => {
  for (let round = 0; round < 3; round++) {
    await addProcessing();
    await addProcessing();
    // In round 1 the payments are declined, so they get no receipt numbers.
    if (round === 1) await playChain(store, 'insufficient_funds');
    else await playChain(store);
    await Promise.all([applySettlements(store), applySettlements(store)]);
  }
  const rows = await store.db.query<{ receipt_number: string }>(
    'select receipt_number from payments where account_id = $1 order by position',
    [store.merchant.tenant.accountId],
  );
  const numbers = rows.map(({ receipt_number }) => receipt_number.split('-'));
  assert.deepEqual(
    numbers.map(([, number]) => number),
    ['1', '2', '3', '4'],
  );
  assert.equal(new Set(numbers.map(([prefix]) => prefix)).size, 1);
});

test('after a loss the next receipt is number 1 of another series', async () => {
  const numberOfNext = async () => {
    const { intentId } = await addProcessing();
    await playChain(store);
    return (await findPayment(store, intentId))?.receipt_number ?? '';
  };
  const [before = '', count] = (await numberOfNext()).split('-');
  const now = store.clock.now();
  const lost = { livemode: false, before: new Date(now.getTime() + 1), now };
  await store.db.transaction((tx) => beginSeriesAnew(tx, lost));
  // A second process continues the same recovery. It must not begin yet another series.
  await store.db.transaction((tx) => beginSeriesAnew(tx, { ...lost, before: now }));
  const [after = '', first] = (await numberOfNext()).split('-');
  assert.deepEqual([count, first], ['1', '1']);
  assert.notEqual(after, before);
  const series = await store.db.query<{ after_loss: boolean }>(
    'select after_loss from receipt_series where account_id = $1 and ended_at is null',
    [store.merchant.tenant.accountId],
  );
  assert.deepEqual(series, [{ after_loss: true }]);
});

test('a result is applied once, for any number of workers', async () => {
  await addProcessing();
  await addProcessing();
  await answerAll(NOT_SETTLED);
  const runs = Array.from({ length: 5 }, () => applySettlements(store));
  // Each run returns false: its batch was not full, so no worker needs to run again immediately.
  assert.deepEqual([...new Set(await Promise.all(runs))], [false]);
  assert.equal(await applySettlements(store), false);
  const failed = (await eventTypes(store)).filter((type) => type.endsWith('payment_failed'));
  assert.equal(failed.length, 2);
  const open = await store.db.query('select from chain_requests where applied_at is null');
  assert.equal(open.length, 0);
});

describe('when the chain refuses', () => {
  for (const reason of Object.keys(FAILURE_DECLINES) as FailureReason[]) {
    test(`${reason}: nothing is charged, and another tap may follow`, async () => {
      const { intentId, pass } = await addProcessing();
      await playChain(store, reason);
      const declined = await readIntent(intentId);
      assert.equal(declined.status, 'requires_payment_method');
      const error = declined.last_payment_error as JsonObject;
      assert.equal(error.decline_code, FAILURE_DECLINES[reason]);
      assert.equal(await findPayment(store, intentId), undefined);
      await pay(store, { intentId, pass, hangUp: true });
      await playChain(store);
      const paid = await readIntent(intentId);
      assert.deepEqual([paid.status, paid.last_payment_error], ['succeeded', null]);
    });
  }

  test('an intent keeps its number on the contract over all of its attempts', async () => {
    const { intentId, pass } = await addProcessing();
    await playChain(store, 'insufficient_funds');
    await pay(store, { intentId, pass, hangUp: true });
    const rows = await store.db.query<{ number: bigint }>(
      `select distinct number from chain_requests where subject_id = $1`,
      [intentId],
    );
    assert.equal(rows.length, 1);
  });

  test('an intent that has expired meanwhile ends', async () => {
    const { intentId } = await addProcessing(30);
    clock.advance(30_000);
    await playChain(store, 'insufficient_funds');
    const ended = await readIntent(intentId);
    assert.deepEqual([ended.status, ended.cancellation_reason], ['canceled', 'expired']);
    assert.deepEqual((await eventTypes(store, intentId)).slice(-2), [
      'payment_intent.payment_failed',
      'payment_intent.canceled',
    ]);
  });
});

test('an intent that has expired meanwhile is paid if the chain settled it', async () => {
  const { intentId } = await addProcessing(30);
  clock.advance(3_600_000);
  await playChain(store);
  assert.equal((await readIntent(intentId)).status, 'succeeded');
});

describe('a request that waits', () => {
  test('gets the final response, and so do its retries', async () => {
    const { intentId, pass } = await openSale(store);
    const waiting = pay(store, { intentId, pass, key: 'tap-1' });
    for (;;) if ((await playChain(store)) > 0) break;
    const first = see(await waiting);
    assert.deepEqual(first.body, await readIntent(intentId));
    assert.equal(first.said, 'succeeded');
    const again = see(await pay(store, { intentId, pass, key: 'tap-1' }));
    assert.deepEqual(again, { ...first, replayed: true });
  });

  test('whose process died gets the final response when it retries', async () => {
    const { intentId, pass } = await openSale(store);
    await pay(store, { intentId, pass, key: 'tap-2', hangUp: true });
    const meanwhile = see(await pay(store, { intentId, pass, key: 'tap-2' }));
    assert.equal(meanwhile.said, 'idempotency_request_in_progress');
    await playChain(store, 'limit_exceeded');
    const again = see(await pay(store, { intentId, pass, key: 'tap-2' }));
    assert.deepEqual([again.replayed, again.status], [true, 200]);
    assert.deepEqual(again.body, await readIntent(intentId));
  });

  test('for another intent keeps waiting', async () => {
    const other = newRequest(store);
    await store.db.transaction((tx) => holdKey(tx, other, clock.now(), { resource: 'pi_other' }));
    await addProcessing();
    await playChain(store);
    const replay = await findReplay(store.db, other, clock.now());
    assert.ok(replay !== null);
    assert.equal(see(replay).said, 'idempotency_request_in_progress');
  });
});

test('a result that matches no intent raises an alarm, and stops no other', async () => {
  const odd = await addProcessing();
  const good = await addProcessing();
  await store.db.query(
    `update payment_intents set status = 'canceled', canceled_at = now(),
       cancellation_reason = 'expired' where id = $1`,
    [odd.intentId],
  );
  await answerAll(NOT_SETTLED);
  const errors: unknown[] = [];
  const log: Log = { ...silentLog, error: (message, fields) => errors.push([message, fields]) };
  await applySettlements({ ...store, log });
  assert.equal(errors.length, 1);
  assert.match(JSON.stringify(errors), new RegExp(odd.intentId));
  const alarms = await store.db.query(
    `select subject, details->>'kind' as kind, details->>'status' as status from chain_alarms
     where kind = 'outcome_unfit' and resolved_at is null`,
  );
  assert.deepEqual(alarms, [{ subject: odd.intentId, kind: 'payment', status: 'canceled' }]);
  assert.equal((await readIntent(odd.intentId)).status, 'canceled');
  assert.equal((await readIntent(good.intentId)).status, 'requires_payment_method');
  await applySettlements({ ...store, log });
  assert.equal(errors.length, 1);
});
