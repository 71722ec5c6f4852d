import {
  addToClock,
  advanceAgentTokens,
  advanceIdempotencyKeys,
  advanceIntents,
  advanceOrder,
  advanceRefundWindows,
  dropEventsBefore,
  selectClock,
} from '#apis/test-helpers/clock-queries.ts';
import { addMs, addSeconds, type Clock } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { expireIntents } from '#payments/expire.ts';

export interface ClockDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
}

/** The largest advance: enough for any deadline that a developer tests. */
export const MAX_ADVANCE_SECONDS = 366 * 86_400;
/** The event retention of behavior.md 17.2. */
const EVENT_RETENTION_MS = 30 * DAY_MS;

/** A test account's clock as the API shows it. */
export interface TestClock {
  readonly now: Date;
  readonly advancedSeconds: number;
}

export async function readTestClock(deps: ClockDeps, tenant: Tenant): Promise<TestClock> {
  const advancedSeconds = await selectClock(deps.db, tenant.accountId);
  return { now: addSeconds(deps.clock.now(), advancedSeconds), advancedSeconds };
}

/**
 * Advances the clock of one account's test mode (behavior.md 17.2). Everything due by then happens
 * at once, and new objects get the new time.
 */
export async function advanceTestClock(
  deps: ClockDeps,
  request: { readonly tenant: Tenant; readonly seconds: number },
): Promise<TestClock> {
  const { seconds } = request;
  const { accountId } = request.tenant;
  const now = deps.clock.now();
  const advancedSeconds = await deps.db.transaction(async (tx) => {
    const total = await addToClock(tx, accountId, seconds);
    await advanceIntents(tx, accountId, seconds);
    await advanceRefundWindows(tx, accountId, seconds);
    await advanceAgentTokens(tx, accountId, seconds);
    await advanceIdempotencyKeys(tx, accountId, seconds);
    const at = { total, now: addSeconds(now, total) };
    await dropEventsBefore(tx, accountId, addMs(at.now, -EVENT_RETENTION_MS));
    await advanceOrder(tx, accountId, at);
    return total;
  });
  while (await expireIntents(deps));
  return { now: addSeconds(now, advancedSeconds), advancedSeconds };
}
