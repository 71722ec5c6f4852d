import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Database } from '#db/database.ts';
import type { CancelRequest } from '#payments/cancel-intent.ts';
import { lockIntent, updateIntentStates } from '#payments/intent-queries.ts';
import { transition } from '#payments/payment-intent.ts';
import { saveSteps } from '#payments/save-intent-steps.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import {
  addIntent,
  addMerchant,
  addTerminal,
  newRequest,
  openSale,
  openStore,
  pay,
  playChain,
} from '#testkit/fixtures/payments/store.ts';
import { eventTypes, lastSnapshot, see } from '#testkit/fixtures/payments/store-payments.ts';
import { cancel as cancelIntent } from '#testkit/fixtures/payments/store-requests.ts';

const clock = new FakeClock();
const store = openForTests(() => openStore({ clock }));

async function cancel(intentId: string, request: Partial<CancelRequest> = {}) {
  return see(await cancelIntent(store, intentId, request));
}

const CREATED = 'payment_intent.created';
const CANCELED = 'payment_intent.canceled';

test('a cancellation shows in the response and in the event', async () => {
  const id = await addIntent(store);
  clock.advance(5_000);
  const { status, body } = await cancel(id);
  assert.equal(status, 200);
  assert.equal(body.status, 'canceled');
  assert.equal(body.cancellation_reason, 'requested_by_merchant');
  assert.equal(body.canceled_at, clock.now().toISOString());
  assert.deepEqual(await eventTypes(store, id), [CREATED, CANCELED]);
  assert.deepEqual(await lastSnapshot(store, CANCELED), body);
});

test('a write fails if the state has changed since the decision', async () => {
  const id = await addIntent(store);
  await cancel(id);
  const write = store.db.transaction(async (tx) => {
    const intent = present(await lockIntent(tx, store.merchant.tenant, id), 'intent');
    await updateIntentStates(tx, [{ from: 'requires_payment_method', intent }]);
  });
  await assert.rejects(write, /changed under its lock/);
});

test('canceling again returns it unchanged and sends no event', async () => {
  const id = await addIntent(store);
  const first = await cancel(id);
  clock.advance(1_000);
  assert.deepEqual(await cancel(id), first);
  assert.deepEqual(await eventTypes(store, id), [CREATED, CANCELED]);
});

test('ten concurrent cancels cancel once', async () => {
  const id = await addIntent(store);
  const seen = await Promise.all(Array.from({ length: 10 }, () => cancel(id)));
  assert.equal(new Set(seen.map(({ body }) => JSON.stringify(body))).size, 1);
  assert.deepEqual(await eventTypes(store, id), [CREATED, CANCELED]);
});

test('a cancel waits for a running decision about its intent, and then decides once', async () => {
  const id = await addIntent(store);
  const { tenant } = store.merchant;
  const other = await underWay(store.db, async (tx) => {
    const before = present(await lockIntent(tx, tenant, id), 'intent');
    const steps = transition(before, { type: 'cancel' }, clock.now());
    assert.ok(!isRefusal(steps));
    await saveSteps(tx, [{ before, steps }], clock.now());
  });
  let runs = 0;
  const transaction: Database['transaction'] = (work) =>
    store.db.transaction((tx) => {
      runs++;
      return work(tx);
    });
  const canceling = cancelIntent({ ...store, db: { ...store.db, transaction } }, id);
  await waitingForLocks(store.db, 1);
  await other.commit();
  assert.equal(see(await canceling).status, 200);
  assert.equal(runs, 1);
  assert.deepEqual(await eventTypes(store, id), [CREATED, CANCELED]);
});

test('with one key it runs once and is replayed', async () => {
  const id = await addIntent(store);
  const idempotency = newRequest(store);
  const first = await cancel(id, { idempotency });
  const again = await cancel(id, { idempotency });
  assert.deepEqual(again, { ...first, replayed: true });
  const other = await cancel(await addIntent(store), {
    idempotency: { ...idempotency, fingerprint: newRequest(store).fingerprint },
  });
  assert.deepEqual([other.status, other.said], [409, 'idempotency_key_reused']);
});

test("another account's, mode's or terminal's intent is not found", async () => {
  const id = await addIntent(store);
  const { tenant } = await addMerchant(store.db, { now: clock.now() });
  const { terminalId } = await addTerminal(store.db, store.merchant, clock.now());
  const strangers = [{ tenant }, { tenant: { ...store.merchant.tenant, livemode: true } }];
  for (const request of [...strangers, { terminalId }]) {
    const seen = await cancel(id, request);
    assert.deepEqual([seen.status, seen.said], [404, 'resource_missing']);
  }
  assert.deepEqual(await eventTypes(store, id), [CREATED]);
});

test('canceling an expired intent leaves its reason as expired', async () => {
  const id = await addIntent(store, { expiresIn: 30 });
  clock.advance(30_000);
  const { body } = await cancel(id);
  assert.deepEqual([body.status, body.cancellation_reason], ['canceled', 'expired']);
  assert.equal(body.canceled_at, body.expires_at);
});

test('once the settlement was requested it is refused, and so is its key forever', async () => {
  const { intentId: id, pass } = await openSale(store);
  await pay(store, { intentId: id, pass, hangUp: true });
  const idempotency = newRequest(store);
  const first = await cancel(id, { idempotency });
  assert.deepEqual([first.status, first.said], [409, 'payment_intent_unexpected_state']);
  await playChain(store);
  assert.deepEqual(await cancel(id, { idempotency, requestId: 'req_2' }), {
    ...first,
    replayed: true,
  });
  assert.equal((await eventTypes(store, id)).includes(CANCELED), false);
});
