import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { derivedOrderId, numberOfId } from '#core/ids.ts';
import { createIntent } from '#payments/create-intent.ts';
import { createBatch } from '#payments/create-intents-together.ts';
import type { CreateRequest } from '#payments/price-new-intent.ts';
import { createSettlementNumbers, raiseSettlementNumbers } from '#settlement/settlement-numbers.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { newRequest, openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import {
  addPayment,
  addStore,
  eventTypes,
  newCreate,
  see,
} from '#testkit/fixtures/payments/store-payments.ts';

let store: TestStore;
let clock: FakeClock;
const shared = openForTests(openStore);
beforeEach(async () => {
  clock = new FakeClock();
  store = await addStore(shared, clock);
});

const create = async (request: CreateRequest) => see(await createIntent(store.ctx, request));
const keyed = (key: string, input: Parameters<typeof newCreate>[1] = {}) =>
  newCreate(store, input, { idempotency: newRequest(store, key) });

/** Adds a paid intent as recovery writes it, with its original order ID. */
async function addRebuilt(orderId: string, amount = 2_500_000): Promise<string> {
  const payment = await addPayment(store, amount);
  await store.db.query(
    `update payment_intents set recovered = true, order_id = $2, metadata = '{}' where id = $1`,
    [payment.payment_intent_id, orderId],
  );
  return payment.payment_intent_id;
}

/** Restores the database to a time before the account's newest intents were created. */
async function loseEverything(): Promise<void> {
  const { accountId } = store.merchant.tenant;
  for (const table of ['payment_intents', 'events', 'idempotency_keys']) {
    await store.db.query(`delete from ${table} where account_id = $1`, [accountId]);
  }
}

async function numberOf(id: string): Promise<bigint | null> {
  const rows = await store.db.query<{ settlement_number: bigint | null }>(
    'select settlement_number from payment_intents where id = $1',
    [id],
  );
  return rows[0]?.settlement_number ?? null;
}

describe('a new intent', () => {
  test('has its settlement number from its creation, and its id encodes it', async () => {
    const ids = [
      (await create(newCreate(store))).body.id,
      (await create(newCreate(store, { source: 'terminal', orderId: 'A-1' }))).body.id,
    ].map(String);
    for (const id of ids) {
      const number = await numberOf(id);
      assert.ok(number !== null);
      assert.equal(numberOfId(store.idKey, 'paymentIntent', { livemode: false, id }), number);
    }
  });

  test('is settled with that number, and its payment’s id encodes it too', async () => {
    const payment = await addPayment(store);
    assert.equal(await numberOf(payment.payment_intent_id), payment.settlement_number);
    const named = { livemode: false, id: payment.id };
    assert.equal(numberOfId(store.idKey, 'payment', named), payment.settlement_number);
  });

  test('has no field `recovered`', async () => {
    assert.equal('recovered' in (await create(newCreate(store))).body, false);
  });

  test('gets no number that was drawn before numbers were raised', async () => {
    await create(newCreate(store));
    await store.db.transaction((tx) => raiseSettlementNumbers(tx, false, 5_000_000n));
    const made = await Promise.all(Array.from({ length: 5 }, () => create(newCreate(store))));
    for (const { status, body } of made) {
      assert.equal(status, 201);
      assert.ok(((await numberOf(String(body.id))) ?? 0n) > 6_000_000n);
    }
  });
});

describe('an omitted order id', () => {
  test('is derived from the key, so it is the same after a restore of the database', async () => {
    const first = await create(keyed('sale 1'));
    await loseEverything();
    const again = await create(keyed('sale 1'));
    assert.equal(again.status, 201);
    assert.equal(again.replayed, false);
    assert.equal(again.body.order_id, first.body.order_id);
    const request = newRequest(store, 'sale 1');
    assert.equal(again.body.order_id, derivedOrderId(store.idKey, request, 0));
  });

  test('becomes the next derived id if the merchant gave the first to another intent', async () => {
    const request = newRequest(store, 'clash');
    const [first, second] = [0, 1].map((n) => derivedOrderId(store.idKey, request, n));
    await create(newCreate(store, { orderId: first ?? '' }));
    await create(newCreate(store, { orderId: second ?? '' }));
    const made = await create(keyed('clash'));
    assert.equal(made.status, 201);
    assert.equal(made.body.order_id, derivedOrderId(store.idKey, request, 2));
    const replay = await create(keyed('clash'));
    assert.deepEqual([replay.replayed, replay.body.id], [true, made.body.id]);
  });

  test('becomes the next derived id if the key is reused once its record is deleted', async () => {
    const first = await create(keyed('reused'));
    clock.advance(49 * 3_600_000);
    const second = await create(keyed('reused'));
    assert.equal(second.status, 201);
    assert.notEqual(second.body.order_id, first.body.order_id);
    assert.notEqual(second.body.id, first.body.id);
  });

  test('never equals one that another request of the same batch names', async () => {
    const request = newRequest(store, 'batch');
    const named = derivedOrderId(store.idKey, request, 0);
    const batch = [keyed('batch'), newCreate(store, { orderId: named })];
    const ids = { idKey: store.idKey, numbers: createSettlementNumbers(store.db) };
    const { outcomes } = await createBatch(store.db, ids, batch);
    assert.deepEqual(
      outcomes.map(({ answer }) => see(answer).body.order_id),
      [derivedOrderId(store.idKey, request, 1), named],
    );
  });

  test('for the same key at two terminals are two different IDs, without a retry', async () => {
    const idempotency = newRequest(store, '1');
    const made = [];
    for (const caller of ['tml_a', 'tml_b']) {
      made.push(await create(newCreate(store, {}, { idempotency: { ...idempotency, caller } })));
    }
    const callers = ['tml_a', 'tml_b'].map((caller) => ({ ...idempotency, caller }));
    assert.deepEqual(
      made.map(({ body }) => body.order_id),
      callers.map((request) => derivedOrderId(store.idKey, request, 0)),
    );
  });
});

describe('a create that repeats a rebuilt intent', () => {
  test('gets that intent, with any key, and nothing is created', async () => {
    const id = await addRebuilt('A-1');
    const told = await eventTypes(store);
    for (const key of ['one', 'another']) {
      const answer = await create(keyed(key, { orderId: 'A-1' }));
      assert.deepEqual([answer.status, answer.replayed], [201, true]);
      assert.deepEqual(
        [answer.body.id, answer.body.status, answer.body.recovered],
        [id, 'succeeded', true],
      );
      const again = await create(keyed(key, { orderId: 'A-1' }));
      assert.deepEqual([again.status, again.replayed, again.body], [201, true, answer.body]);
    }
    assert.deepEqual(await eventTypes(store), told);
  });

  test('with another amount is refused, and so is every later one', async () => {
    await addRebuilt('A-2');
    const answer = await create(keyed('other', { orderId: 'A-2', amount: 2_500_001 }));
    assert.deepEqual([answer.status, answer.said], [409, 'order_id_in_use']);
  });

  test('without an order id gets the intent whose order id its key derives', async () => {
    const id = await addRebuilt(derivedOrderId(store.idKey, newRequest(store, 'lost'), 0));
    const answer = await create(keyed('lost'));
    assert.deepEqual([answer.status, answer.replayed, answer.body.id], [201, true, id]);
    const other = await create(keyed('lost too'));
    assert.deepEqual([other.status, other.replayed], [201, false]);
  });

  test('without an order id and with another amount is refused: nothing pays twice', async () => {
    await addRebuilt(derivedOrderId(store.idKey, newRequest(store, 'more'), 0));
    const answer = await create(keyed('more', { amount: 9 }));
    assert.deepEqual([answer.status, answer.said], [409, 'order_id_in_use']);
  });

  test('gets it even if its terminal no longer takes payments', async () => {
    const id = await addRebuilt('A-3');
    await store.db.query(`update terminals set status = 'inactive' where id = $1`, [
      store.terminalId,
    ]);
    const answer = await create(keyed('late', { orderId: 'A-3' }));
    assert.deepEqual([answer.status, answer.body.id], [201, id]);
  });

  test('does not get an intent that was never lost: that order id is in use', async () => {
    await create(keyed('first', { orderId: 'A-4' }));
    const answer = await create(keyed('second', { orderId: 'A-4' }));
    assert.deepEqual([answer.status, answer.said], [409, 'order_id_in_use']);
  });
});
