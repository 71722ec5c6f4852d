import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addMs } from '#core/clock.ts';
import { stampOrder } from '#db/commit-order.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { underWay, waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { holdKey } from '#testkit/fixtures/db/idempotency-keys.ts';
import { intentCreator, openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { addStore, newCreate, see } from '#testkit/fixtures/payments/store-payments.ts';

const clock = new FakeClock();
const store = openForTests(() => openStore({ clock }));

/** Holds the lock of this account's order in a separate transaction. */
function holdOrder() {
  return underWay(store.db, (tx) => stampOrder(tx, store.merchant.tenant, clock.now(), 1));
}

test("an account whose order is locked does not delay other accounts' creates", async () => {
  const create = intentCreator(store);
  const neighbor = await addStore(store, clock);
  const order = await holdOrder();
  let isDone = false;
  const own = create(newCreate(store)).finally(() => {
    isDone = true;
  });
  await waitingForLocks(store.db, 1);
  const answers = [create(newCreate(neighbor)), sleep(2_000, null)];
  const first = await Promise.race(answers);
  await order.commit();
  assert.ok(first !== null, 'the neighbor had to wait');
  assert.deepEqual([see(first).status, isDone], [201, false]);
  assert.equal(see(await own).status, 201);
});

test('a create whose key another request takes meanwhile is refused as in progress', async () => {
  const create = intentCreator(store);
  const request = newCreate(store);
  const key = await underWay(store.db, (tx) => holdKey(tx, request.idempotency, clock.now()));
  const answer = create(request);
  await waitingForLocks(store.db, 1);
  await key.commit();
  assert.equal(see(await answer).said, 'idempotency_request_in_progress');
});

/** Returns the creation times of the store's intents, in the account's order. */
async function timesOf({ merchant, db }: TestStore): Promise<Date[]> {
  const rows = await db.query<{ created: Date }>(
    'select created from payment_intents where account_id = $1 order by position',
    [merchant.tenant.accountId],
  );
  return rows.map(({ created }) => created);
}

test('a create never counts as created before an earlier one, for any clocks', async () => {
  const shop = await addStore(store, clock);
  const create = intentCreator(store);
  const at = (ms: number) => newCreate(shop, {}, { now: addMs(clock.now(), ms) });
  await create(at(900));
  const answer = see(await create(at(100)));
  const late = addMs(clock.now(), 900);
  assert.equal(answer.body.created, late.toISOString());
  assert.deepEqual(await timesOf(shop), [late, late]);
});

test('an advanced test clock counts from the next create on', async () => {
  const shop = await addStore(store, clock);
  await store.db.query('update account_modes set ahead_seconds = 60 where account_id = $1', [
    shop.merchant.tenant.accountId,
  ]);
  await intentCreator(store)(newCreate(shop));
  assert.deepEqual(await timesOf(shop), [addMs(clock.now(), 60_000)]);
});

test('batches of two nodes that name the same accounts never refuse a create', async () => {
  const shops = [await addStore(store, clock), await addStore(store, clock)];
  const nodes = [intentCreator(store), intentCreator(store)];
  const seen = await Promise.all(
    Array.from({ length: 200 }, async (_, n) => {
      const shop = shops[(n >> 1) % 2];
      const create = nodes[n % 2];
      assert.ok(shop !== undefined && create !== undefined);
      if (n % 10 === 0) await sleep(n / 10);
      return see(await create(newCreate(shop)));
    }),
  );
  assert.ok(seen.every(({ status }) => status === 201));
});
