import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { FakeClock } from '#core/clock.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Database } from '#db/database.ts';
import { AccountClocks } from '#payments/account-clocks.ts';
import { createIntentCreator } from '#payments/create.ts';
import { createUnderLock, TURN_LOCK } from '#payments/create-under-lock.ts';
import { underWay, waitingForLocks } from '#testing/open-transactions.ts';
import { openStore, type TestStore } from '#testing/store.ts';
import { addStore, newCreate, see } from '#testing/store-payments.ts';

const clock = new FakeClock();
let store: TestStore;
before(async () => {
  store = await openStore({ clock });
});
after(() => store.close());

/** Somebody else holds the order of this store's account. */
function holdOrder() {
  return underWay(store.db, (tx) => stampOrder(tx, store.standing.tenant, clock.now(), 1));
}

test("an account whose order somebody holds keeps no other account's creates waiting", async () => {
  const create = createIntentCreator(store);
  const neighbour = await addStore(store, clock);
  const order = await holdOrder();
  let isDone = false;
  const own = create(newCreate(store)).finally(() => {
    isDone = true;
  });
  await waitingForLocks(store.db, 1);
  const answers = [create(newCreate(neighbour)), sleep(2_000, null)];
  const first = await Promise.race(answers);
  await order.commit();
  assert.ok(first !== null, 'the neighbour had to wait');
  assert.deepEqual([see(first).status, isDone], [201, false]);
  assert.equal(see(await own).status, 201);
});

test('a create that meets a taken order waits for it once, with all others', async () => {
  let transactions = 0;
  const transaction: Database['transaction'] = (work) => {
    transactions++;
    return store.db.transaction(work);
  };
  const create = createIntentCreator({ ...store, db: { ...store.db, transaction } });
  const order = await holdOrder();
  const first = create(newCreate(store));
  await waitingForLocks(store.db, 1);
  const later = Array.from({ length: 5 }, () => create(newCreate(store)));
  // Most have looked by now; those that have not find the order free.
  await sleep(50);
  await order.commit();
  const seen = (await Promise.all([first, ...later])).map(see);
  assert.ok(seen.every(({ status }) => status === 201));
  // The first, and those that came while it waited: not one for each.
  assert.ok(transactions <= 2, `${transactions} transactions`);
});

test('a process that stands still with its turn holds up nobody for long', async () => {
  const create = createIntentCreator(store);
  const order = await holdOrder();
  const turn = await underWay(store.db, (tx) =>
    tx.query(`select pg_advisory_xact_lock(${TURN_LOCK})`),
  );
  const waiting = create(newCreate(store));
  await waitingForLocks(store.db, 1);
  await order.commit();
  // The turn is still taken.
  assert.equal(see(await waiting).status, 201);
  await turn.commit();
});

test('a batch has the turn while it waits for an order: the next one waits behind it', async () => {
  const create = createIntentCreator(store);
  const order = await holdOrder();
  const waiting = create(newCreate(store));
  await waitingForLocks(store.db, 1);
  const [turn] = await store.db.query<{ isFree: boolean }>(
    `select pg_try_advisory_xact_lock(${TURN_LOCK}) as "isFree"`,
  );
  assert.equal(turn?.isFree, false);
  await order.commit();
  assert.equal(see(await waiting).status, 201);
});

test('what has arrived while a batch waited goes with it, for other accounts too', async () => {
  const neighbour = await addStore(store, clock);
  const batch = [newCreate(store)];
  const arrived = [newCreate(store), newCreate(neighbour)];
  const take = () => arrived;
  const deps = { ...store, clocks: new AccountClocks() };
  const { outcomes } = await createUnderLock(deps, { batch, take });
  assert.deepEqual(
    outcomes.map((outcome) => outcome?.created),
    [true, true, true],
  );
  assert.deepEqual(batch.slice(1), arrived);
});
