import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addMs, type Clock, FakeClock } from '#core/clock.ts';
import { createLateBatcher } from '#db/batching.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Pipeline } from '#db/database.ts';
import { claim } from '#idempotency/run-once.ts';
import { AccountClocks } from '#payments/account-clocks.ts';
import { ContendedAccounts } from '#payments/contended-accounts.ts';
import { createIntentCreator } from '#payments/create.ts';
import { type AtOnce, createAtOnce, createUnderLocks } from '#payments/create-at-once.ts';
import type { CreateRequest } from '#payments/create-request.ts';
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
  let batches = 0;
  const openPipeline = (): Pipeline => {
    const pipeline = store.db.openPipeline();
    const runLocked: Pipeline['runLocked'] = (lock, then) => {
      batches++;
      return pipeline.runLocked(lock, then);
    };
    return { ...pipeline, runLocked };
  };
  // Time stands still: once the account is known to be contended, it stays so.
  const contended = new ContendedAccounts(() => 0);
  const create = createIntentCreator({ ...store, db: { ...store.db, openPipeline } }, contended);
  const order = await holdOrder();
  const first = create(newCreate(store));
  await waitingForLocks(store.db, 1);
  const later = Array.from({ length: 5 }, () => create(newCreate(store)));
  await order.commit();
  const seen = (await Promise.all([first, ...later])).map(see);
  assert.ok(seen.every(({ status }) => status === 201));
  assert.equal(batches, 1, 'those that came while it waited went with the first');
});

test('under the lock, a create whose key another request takes meanwhile is told so', async () => {
  const contended = new ContendedAccounts(() => 0);
  const creator = createIntentCreator(store, contended);
  const request = newCreate(store);
  contended.note(request, { inVain: true });
  const key = await underWay(store.db, (tx) => claim(tx, request.idempotency, clock.now()));
  const answer = creator(request);
  await waitingForLocks(store.db, 1);
  await key.commit();
  assert.equal(see(await answer).status, 409);
});

/** When the store's intents count as created, in their order. */
async function timesOf({ standing, db }: TestStore): Promise<Date[]> {
  const rows = await db.query<{ created: Date }>(
    'select created from payment_intents where account_id = $1 order by position',
    [standing.tenant.accountId],
  );
  return rows.map(({ created }) => created);
}

/** The clock of a process that is so far ahead, or behind. It does not move. */
function clockOff(ms: number): Clock {
  const at = addMs(clock.now(), ms);
  return { now: () => at };
}

/** Another process, which knows nothing of the account yet. */
function elsewhere(ownClock: Clock = clock) {
  const fresh = { pipeline: store.db.openPipeline(), clocks: new AccountClocks() };
  return { ...store, ...fresh, clock: ownClock };
}

/** Whether it could be created without waiting; null: it was left alone. */
async function create(node: ReturnType<typeof elsewhere>, request: CreateRequest) {
  const { outcomes } = await createAtOnce(node, [request]);
  return outcomes[0]?.created ?? null;
}

test('a create is stored with the time of its answer, never before an earlier row', async () => {
  const shop = await addStore(store, clock);
  assert.equal(await create(elsewhere(clockOff(900)), newCreate(shop)), true);
  assert.equal(await create(elsewhere(clockOff(100)), newCreate(shop)), null);
  // The way that decides in TypeScript works in a transaction: it is not needed.
  const db = { ...store.db, transaction: () => assert.fail('decided in TypeScript') };
  const creator = createIntentCreator({ ...store, db, clock: clockOff(100) });
  const answer = see(await creator(newCreate(shop)));
  const late = addMs(clock.now(), 900);
  assert.equal(answer.body.created, late.toISOString());
  assert.deepEqual(await timesOf(shop), [late, late]);
});

test('a clock that was moved is noticed, and who waits for the order learns of it', async () => {
  const shop = await addStore(store, clock);
  const { tenant } = shop.standing;
  await store.db.query('update account_modes set ahead_seconds = 60 where account_id = $1', [
    tenant.accountId,
  ]);
  const node = elsewhere();
  assert.equal(await create(node, newCreate(shop)), null);
  const batcher = createLateBatcher<CreateRequest, AtOnce>({
    ...{ maxInFlight: 1, maxItems: 1 },
    run: async (draw) => (await createUnderLocks(node, draw, 1)).outcomes,
  });
  assert.equal((await batcher.add(newCreate(shop)))?.created, true);
  assert.equal(await create(node, newCreate(shop)), true);
  const ahead = addMs(clock.now(), 60_000);
  assert.deepEqual(await timesOf(shop), [ahead, ahead]);
});
