import assert from 'node:assert/strict';
import { FakeClock } from '#core/clock.ts';
import {
  addMerchant,
  addTerminal,
  type Counter,
  openStore,
  type TestStore,
} from '#testing/store.ts';

/**
 * Number of accounts. Commits of one account are sequential, so several are needed to keep all
 * processors busy.
 */
const COUNTERS = 32;
/** Number of processes that race against each other. */
const NODES = 4;
/** Number of concurrent races. */
const AT_ONCE = 48;

/** A store with many merchants and their terminals, and the checks that every race must pass. */
export interface RaceCourse {
  readonly store: TestStore;
  readonly clock: FakeClock;
  counterOf(index: number): Counter;
  /**
   * Returns the store as a separate process would use it. Its payments share no transaction with
   * those of other processes.
   */
  nodeOf(index: number): TestStore;
  /** Checks that no intent was paid twice, and that the sums match the simulated chain. */
  checkMoney(): Promise<void>;
  /** Returns how many of these intents have each status. */
  statusesOf(ids: readonly string[]): Promise<Map<string, number>>;
}

/** Runs `race(0)` to `race(count - 1)`, several at a time. */
export async function inParallel<T>(
  count: number,
  race: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const caller = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await race(index);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, caller));
  return results;
}

async function checkMoney(store: TestStore): Promise<void> {
  const wrong = await store.db.query(
    `select i.id, i.status,
       (select count(*) from chain_requests r
        where r.subject_id = i.id and r.status = 'succeeded') as settled,
       (select count(*) from payments p where p.payment_intent_id = i.id) as payments
     from payment_intents i
     where (i.status = 'succeeded') is distinct from exists (
         select from chain_requests r where r.subject_id = i.id and r.status = 'succeeded')
       or (i.status = 'succeeded') is distinct from exists (
         select from payments p where p.payment_intent_id = i.id and p.amount = i.amount + p.tip)
       or (i.status = 'canceled' and exists (
         select from chain_requests r where r.subject_id = i.id and r.status <> 'failed'))`,
  );
  assert.deepEqual(wrong, []);
  const [sums] = await store.db.query<{ chain: bigint; ours: bigint }>(
    `select
       (select coalesce(sum((payload ->> 'amount')::bigint), 0)::bigint from chain_requests
        where kind = 'payment' and status = 'succeeded') as chain,
       (select coalesce(sum(amount), 0)::bigint from payments) as ours`,
  );
  assert.equal(sums?.ours, sums?.chain);
}

async function statusesOf(store: TestStore, ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await store.db.query<{ status: string }>(
    'select status from payment_intents where id = any($1)',
    [ids],
  );
  const counts = new Map<string, number>();
  for (const { status } of rows) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

export async function openRaceCourse(start: Date): Promise<RaceCourse> {
  const clock = new FakeClock(start);
  const store = await openStore({ clock, maxConnections: 32 });
  const counters: Counter[] = [];
  for (let i = 0; i < COUNTERS; i++) {
    const merchant = await addMerchant(store.db, { now: start });
    counters.push({ merchant, ...(await addTerminal(store.db, merchant, start)) });
  }
  const nodes = Array.from({ length: NODES }, () => ({ ...store, ctx: { ...store.ctx } }));
  return {
    store,
    clock,
    nodeOf: (index) => nodes[index % NODES] as TestStore,
    counterOf: (index) => counters[index % COUNTERS] as Counter,
    checkMoney: () => checkMoney(store),
    statusesOf: (ids) => statusesOf(store, ids),
  };
}
