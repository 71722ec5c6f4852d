import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { deleteExpired } from '#idempotency/key-queries.ts';

/** Rows per statement, few enough not to block other work. */
const BATCH = 1_000;

/** Deletes keys older than 48 hours. @returns true if there may be more. */
export async function dropExpiredKeys(deps: {
  readonly db: Database;
  readonly clock: Clock;
}): Promise<boolean> {
  return (await deleteExpired(deps.db, deps.clock.now(), BATCH)) === BATCH;
}
