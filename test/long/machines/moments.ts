import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#db/database.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import type { Sales } from '#testkit/fixtures/payments/sales.ts';
import { bookedSales, paidOf } from './strikes.ts';

/** The conditions that must hold after a restore to a point in time. */

const COMPLETE_MS = 240_000;

export interface Restorable {
  readonly db: Database;
  /** Sells for a few seconds. */
  sellFor(): Promise<Sales>;
  /**
   * Restores the database to a moment. @param moment In PostgreSQL's format. @param timeline The
   * previous timeline, if an earlier restore's target was too early.
   */
  restore(moment: string, timeline?: number): Promise<void>;
}

async function now(db: Database): Promise<string> {
  const [row] = await db.query<{ readonly now: string }>('select now()::text as now');
  assert(row !== undefined);
  // Leaves a gap, so that nothing is booked at the exact target time.
  await sleep(1_000);
  return row.now;
}

/** Waits until each sale is booked once. @returns how many were rebuilt from the chain. */
async function rebuiltOf(db: Database, shops: readonly Sales[]): Promise<number> {
  const paid = shops.flatMap(paidOf);
  const booked = () => bookedSales(db, paid).catch(() => []);
  const isComplete = async () => (await booked()).length === paid.length;
  assert(await waitUntil(isComplete, COMPLETE_MS), 'payments are missing');
  const books = await booked();
  for (const { id, status, payments } of books) {
    assert.deepEqual([status, payments], ['succeeded', 1], id);
  }
  return books.filter(({ recovered }) => recovered).length;
}

/**
 * Sells before and after the target time. @returns a line that states where each sale came from.
 */
export async function restoreOnce(at: Restorable): Promise<string> {
  const { db, sellFor, restore } = at;
  const before = await sellFor();
  const moment = await now(db);
  const lost = await sellFor();
  const since = performance.now();
  await restore(moment);
  const rebuilt = await rebuiltOf(db, [before, lost]);
  const seconds = (performance.now() - since) / 1000;
  assert(rebuilt > 0, 'what was paid after the moment came back from the chain');
  const count = paidOf(before).length + paidOf(lost).length;
  return (
    `restored to a moment: ${count - rebuilt} payments from the archive, ` +
    `${rebuilt} from the chain, books whole after ${seconds.toFixed(0)} s`
  );
}

/**
 * Restores again to a later time, because the first target was too early. @param timeline The
 * database's timeline before both restores.
 */
export async function restoreTwice(at: Restorable, timeline: number): Promise<string> {
  const { db, sellFor, restore } = at;
  const early = await now(db);
  const between = await sellFor();
  const later = await now(db);
  const after = [await sellFor()];
  await restore(early);
  const missed = await rebuiltOf(db, [between]);
  assert.equal(missed, paidOf(between).length, 'all of it came back from the chain');
  after.push(await sellFor());
  await restore(later, timeline);
  assert.equal(await rebuiltOf(db, [between]), 0, 'it is in the archive of the timeline before');
  const rebuilt = await rebuiltOf(db, after);
  assert.equal(
    rebuilt,
    after.flatMap(paidOf).length,
    'what was paid since came back from the chain',
  );
  return (
    `restored to a moment that was too early, then to a later one: ${paidOf(between).length} ` +
    `payments from the archive that were missing at first, ${rebuilt} from the chain`
  );
}
