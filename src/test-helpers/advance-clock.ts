import { addMs, addSeconds, type Clock } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { expireIntents } from '#payments/expire.ts';
import {
  addToClock,
  advanceAgentTokens,
  advanceIdempotencyKeys,
  advanceIntents,
  advanceRefundWindows,
  advanceWebhooks,
  dropEventsBefore,
  selectClock,
} from '#test-helpers/clock-queries.ts';

export interface ClockDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
}

/** One step at most a year: what a developer wants to see happens within days. */
export const MAX_ADVANCE_SECONDS = 366 * 86_400;
/** api-v1.md section 8. */
const EVENT_RETENTION_MS = 30 * 86_400_000;

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
 * Lets time pass for one account's test mode: all of its deadlines come nearer by `seconds`, and
 * what is due then happens at once. Times that have been, such as `created`, stay what they are.
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
    await advanceWebhooks(tx, accountId, seconds);
    await dropEventsBefore(tx, accountId, addMs(addSeconds(now, total), -EVENT_RETENTION_MS));
    return total;
  });
  while (await expireIntents(deps));
  deps.wakeups.send('deliveries');
  return { now: addSeconds(now, advancedSeconds), advancedSeconds };
}
