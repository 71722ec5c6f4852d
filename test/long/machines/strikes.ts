import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#db/database.ts';
import { compareSales, type Sale, type Sales } from '#testkit/fixtures/payments/sales.ts';
import type { ChaosGround } from '#testkit/simulation/chaos/chaos-ground.ts';
import { comeToRest } from '#testkit/simulation/invariants/invariants.ts';

/** The conditions that must hold after a fault in the cluster. */

/**
 * Time limit: an unpaid order expires after two minutes, and checking an hour of sales takes 15 s.
 */
const REST_MS = 240_000;
/** Shorter pauses come from the test machine and are not an outage. */
const SILENCE_MS = 1_500;
const STEADY_MS = 4_000;
const OUTAGE_MS = 360_000;
/** If sales succeeded for this long, the fault affected nothing that they need. */
const CALM_MS = 20_000;

/**
 * Returns the longest time without an acknowledged write, from now until writes resume, in seconds.
 */
export async function outage(shop: Sales): Promise<number> {
  const began = performance.now();
  let last = began;
  let longest = 0;
  let steadySince = began;
  while (performance.now() - began < OUTAGE_MS) {
    await sleep(50);
    const newest = Math.max(shop.lastWriteAt(), began);
    if (newest === last) continue;
    if (newest - last > SILENCE_MS) {
      longest = Math.max(longest, newest - last);
      steadySince = newest;
    }
    last = newest;
    if (newest - steadySince > (longest > 0 ? STEADY_MS : CALM_MS)) break;
  }
  return longest / 1000;
}

/** Compares ledger, shop and chain. `tolerated` is part of failures that are not the test's. */
export async function requireWhole(
  { db, ground }: { readonly db: Database; readonly ground: ChaosGround },
  shop: Sales,
  tolerated?: string,
): Promise<void> {
  const chains = [ground.testnet.config];
  assert.deepEqual(await comeToRest({ db, chains }, { limitMs: REST_MS }), []);
  const isTolerated = (said: string) => tolerated !== undefined && said.includes(tolerated);
  assert.deepEqual(
    shop.failures.filter((said) => !isTolerated(said)),
    [],
  );
  assert.deepEqual(await compareSales(db, shop), [], 'nothing is lost, nothing is doubled');
}

export const paidOf = ({ sales }: Sales) => sales.filter(({ status }) => status === 'succeeded');

interface BookedSale {
  readonly id: string;
  readonly status: string;
  /** True if the sale was rebuilt from the chain. */
  readonly recovered: boolean;
  readonly payments: number;
}

/** Returns the ledger's entries for these sales; unknown ones are missing. */
export async function bookedSales(db: Database, sales: readonly Sale[]): Promise<BookedSale[]> {
  return db.query<BookedSale>(
    `select i.id, i.status, i.recovered, count(p.id)::int as payments
     from payment_intents i left join payments p on p.payment_intent_id = i.id
     where i.id = any($1::text[]) group by i.id`,
    [sales.map(({ intentId }) => intentId)],
  );
}
