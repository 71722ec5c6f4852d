import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { addSeconds } from '#core/clock.ts';
import { selectNextForTerminals } from '#payments/intent-queries.ts';
import { readIntent } from '#payments/read-intents-together.ts';
import { renderIntent } from '#payments/render.ts';
import { expireIntents } from '#payments/store-expired-intents.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import {
  addIntent,
  intentCreator,
  openSale,
  openStore,
  pay,
  playChain,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import {
  addAsked,
  addStore,
  eventTypes,
  type JsonObject,
  lastSnapshot,
  newCreate,
  storedStatus,
} from '#testkit/fixtures/payments/store-payments.ts';

let clock: FakeClock;
let store: TestStore;
const shared = openForTests(openStore);
beforeEach(async () => {
  clock = new FakeClock();
  store = await addStore(shared, clock);
  // Expires the intents of earlier tests first, so that they do not expire during this test.
  const now = addSeconds(clock.now(), 1_000_000);
  while (await expireIntents({ ...store, clock: new FakeClock(now) }));
});

async function readShown(id: string): Promise<JsonObject> {
  const intent = await readIntent(store.ctx, store.merchant.tenant, id);
  assert.ok(intent !== null);
  return renderIntent(intent);
}

const written = (id: string) => storedStatus(store, id);

test('before the worker runs, readers already see exactly what it then writes', async () => {
  const id = await addIntent(store, { expiresIn: 30 });
  clock.advance(30_000);
  const seen = await readShown(id);
  assert.deepEqual([seen.status, seen.cancellation_reason], ['canceled', 'expired']);
  assert.equal(await written(id), 'requires_payment_method');
  clock.advance(5_000);
  await expireIntents(store);
  assert.equal(await written(id), 'canceled');
  assert.deepEqual(await readShown(id), seen);
  assert.deepEqual(await lastSnapshot(store, 'payment_intent.canceled'), seen);
  assert.deepEqual(await eventTypes(store, id), [
    'payment_intent.created',
    'payment_intent.canceled',
  ]);
});

test('a terminal shows the next intent immediately when the previous one has expired', async () => {
  const first = await addIntent(store, { expiresIn: 30 });
  const next = await addIntent(store, { expiresIn: 60 });
  const shown = async () => {
    const intents = await selectNextForTerminals(store.db, [store.terminalId], clock.now());
    return intents.map(({ id }) => id);
  };
  clock.advance(29_999);
  assert.deepEqual(await shown(), [first]);
  clock.advance(1);
  assert.deepEqual(await shown(), [next]);
  assert.equal(await written(first), 'requires_payment_method');
});

test('nothing ends a millisecond too early', async () => {
  const open = await addIntent(store, { expiresIn: 60 });
  const request = await addAsked(store, { expiresIn: 600 });
  clock.advance(59_999);
  await expireIntents(store);
  assert.deepEqual(
    [await written(open), await written(request)],
    ['requires_payment_method', 'requires_action'],
  );
  clock.advance(1);
  await expireIntents(store);
  assert.deepEqual(
    [await written(open), await written(request)],
    ['canceled', 'requires_payment_method'],
  );
});

test('an unanswered confirmation is a decline, and the intent is open again', async () => {
  const id = await addAsked(store, { expiresIn: 600 });
  clock.advance(60_000);
  const seen = await readShown(id);
  assert.equal(seen.status, 'requires_payment_method');
  assert.equal((seen.last_payment_error as JsonObject).decline_code, 'confirmation_timeout');
  await expireIntents(store);
  assert.deepEqual(await readShown(id), seen);
  assert.deepEqual((await eventTypes(store, id)).slice(-1), ['payment_intent.payment_failed']);
});

test('an unanswered confirmation ends an intent that has expired meanwhile', async () => {
  const id = await addAsked(store, { expiresIn: 30 });
  clock.advance(60_000);
  const seen = await readShown(id);
  await expireIntents(store);
  assert.deepEqual(await readShown(id), seen);
  assert.deepEqual((await eventTypes(store, id)).slice(-2), [
    'payment_intent.payment_failed',
    'payment_intent.canceled',
  ]);
});

test('a payer who was asked before the expiry can still answer after it', async () => {
  const id = await addAsked(store, { expiresIn: 30 });
  clock.advance(59_999);
  await expireIntents(store);
  assert.equal((await readShown(id)).status, 'requires_action');
});

test('an intent that is being settled never expires', async () => {
  const { intentId: id, pass } = await openSale(store, { expiresIn: 30 });
  await pay(store, { intentId: id, pass, hangUp: true });
  clock.advance(86_400_000);
  await expireIntents(store);
  assert.equal((await readShown(id)).status, 'processing');
  await playChain(store);
  assert.equal((await readShown(id)).status, 'succeeded');
});

test('two concurrent workers write each expiry once', async () => {
  const ids = await Promise.all(Array.from({ length: 20 }, () => addIntent(store)));
  clock.advance(600_000);
  await Promise.all(Array.from({ length: 4 }, () => expireIntents(store)));
  while (await expireIntents(store));
  assert.equal((await eventTypes(store)).length, 2 * ids.length);
});

test('a backlog is processed in batches', async () => {
  const create = intentCreator(store);
  await Promise.all(Array.from({ length: 201 }, () => create(newCreate(store))));
  clock.advance(600_000);
  assert.equal(await expireIntents(store), true);
  assert.equal(await expireIntents(store), false);
  const events = await eventTypes(store);
  assert.equal(events.filter((type) => type === 'payment_intent.canceled').length, 201);
});

test('a request that waits for the intent is notified', async () => {
  const id = await addIntent(store);
  let woken = 0;
  store.wakeups.on('intent', id, () => woken++);
  clock.advance(600_000);
  await expireIntents(store);
  assert.equal(woken, 1);
});
