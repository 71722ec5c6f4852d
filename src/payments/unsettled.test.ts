import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import type { NetworkState } from '#settlement/network-readiness.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import {
  bodyOf,
  newRequest,
  openSale,
  openStore,
  pay,
  payAndSettle,
  playChain,
  summaryOf,
} from '#testkit/fixtures/payments/store.ts';
import { addPayment, see, storedStatus } from '#testkit/fixtures/payments/store-payments.ts';
import {
  answerAsPayer,
  refund as requestRefund,
} from '#testkit/fixtures/payments/store-requests.ts';
import { settling } from '#testkit/fixtures/settlement/settling.ts';

const SETTLES: NetworkState = { settles: true, reasons: [] };
const NO_WORKER: NetworkState = { settles: false, reasons: ['no_worker'] };
const RECOVERING: NetworkState = { settles: false, reasons: ['recovering'] };
/** A payment of this amount requires the payer's confirmation. */
const HIGH = 50_000_000;

let state: NetworkState;

const store = openForTests(() =>
  openStore({
    clock: new FakeClock(),
    readiness: { ...settling, of: () => state },
  }),
);
beforeEach(() => {
  state = SETTLES;
});

/** Returns all rows of the tables that a tap, an approval or a refund can change. */
async function traces(): Promise<unknown> {
  const tables = ['chain_requests', 'events', 'idempotency_keys', 'refunds'];
  const counts = tables.map((table) => `(select count(*)::int from ${table}) as ${table}`);
  return store.db.query(`select ${counts.join()}`);
}

const refund = async (paymentId: string, idempotency = newRequest(store)) =>
  see(await requestRefund(store, { paymentId, amount: 10, idempotency }));

describe('while its network does not settle', () => {
  test('a tap returns 503 immediately, changes nothing and frees its key', async () => {
    const { intentId, pass } = await openSale(store);
    state = NO_WORKER;
    const before = await traces();
    const refused = await pay(store, { intentId, pass, key: 'same' });
    assert.equal(summaryOf(refused), 'service_unavailable');
    assert(isRefusal(refused) && refused.message.includes('no_worker'));
    assert.deepEqual(await traces(), before);
    assert.equal(await storedStatus(store, intentId), 'requires_payment_method');
    state = SETTLES;
    const paid = await payAndSettle(store, { intentId, pass, key: 'same' });
    assert.equal(bodyOf(paid).status, 'succeeded');
  });

  test('a stored response is returned again', async () => {
    const { intentId, pass } = await openSale(store);
    const first = bodyOf(await payAndSettle(store, { intentId, pass, key: 'replayed' }));
    state = NO_WORKER;
    const again = bodyOf(await pay(store, { intentId, pass, key: 'replayed' }));
    assert.deepEqual(again, first);
  });

  test("a payer's approval must be retried later, but a rejection is accepted", async () => {
    const { intentId, pass } = await openSale(store, { amount: HIGH });
    await pay(store, { intentId, pass });
    state = NO_WORKER;
    const before = await traces();
    const yes = await answerAsPayer(store, intentId);
    assert(isRefusal(yes) && yes.code === 'service_unavailable');
    assert.deepEqual(await traces(), before);
    assert.equal(await storedStatus(store, intentId), 'requires_action');
    const no = await answerAsPayer(store, intentId, { approve: false });
    assert(!isRefusal(no) && no.status === 'requires_payment_method');
  });

  test('an approval that was accepted before can be repeated', async () => {
    const { intentId, pass } = await openSale(store, { amount: HIGH });
    await pay(store, { intentId, pass });
    await answerAsPayer(store, intentId);
    state = NO_WORKER;
    const again = await answerAsPayer(store, intentId);
    assert(!isRefusal(again) && again.status === 'processing');
    await playChain(store);
  });

  test('a refund is accepted as pending immediately, without waiting for 60 s', async () => {
    const payment = await addPayment(store, 1_000);
    state = NO_WORKER;
    const from = performance.now();
    const seen = await refund(payment.id);
    assert.deepEqual([seen.status, seen.said], [201, 'pending']);
    assert(performance.now() - from < 5_000);
  });

  test('during a recovery a refund returns 503, and nothing changes', async () => {
    const payment = await addPayment(store, 1_000);
    state = RECOVERING;
    const { watch } = store.db;
    const release = watch.guard(store.merchant.tenant.livemode, () => {});
    const before = await traces();
    const request = newRequest(store);
    assert.equal((await refund(payment.id, request)).said, 'service_unavailable');
    assert.deepEqual(await traces(), before);
    release();
    state = NO_WORKER;
    assert.equal((await refund(payment.id, request)).said, 'pending');
  });
});
