import { addMs, type Clock } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { Database } from '#db/database.ts';
import { deleteExpired } from '#idempotency/key-queries.ts';

/** Time for which responses are stored, in hours (behavior.md 9.3). */
const IDEMPOTENCY_HOURS = 48;

/** Returns when a key that is first used at `now` expires. */
export function keyExpiry(now: Date): Date {
  return addMs(now, IDEMPOTENCY_HOURS * HOUR_MS);
}

/** Rows deleted per statement: few enough not to block other work. */
const BATCH = 1_000;

/** Deletes keys older than 48 hours. @returns true if there may be more. */
export async function dropExpiredKeys(deps: {
  readonly db: Database;
  readonly clock: Clock;
}): Promise<boolean> {
  return (await deleteExpired(deps.db, deps.clock.now(), BATCH)) === BATCH;
}
