import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { deleteExpired } from '#idempotency/key-queries.ts';

/** Rows of one statement: short enough to disturb nobody. */
const BATCH = 1_000;

/** Drops keys past their 48 hours. @returns whether there may be more. */
export async function dropExpiredKeys(deps: {
  readonly db: Database;
  readonly clock: Clock;
}): Promise<boolean> {
  return (await deleteExpired(deps.db, deps.clock.now(), BATCH)) === BATCH;
}
