import { type AccountRow, lockOwnAccount } from '#accounts/account-queries.ts';
import {
  type DuePeriod,
  lockDuePeriod,
  type PeriodTask,
  postponePeriod,
  selectDuePeriods,
  updatePeriodDue,
} from '#accounts/period-end-queries.ts';
import {
  type Days,
  dayIn,
  type Every,
  lastPeriod,
  nextPeriodStart,
  shopDays,
} from '#core/calendar.ts';
import { addMs } from '#core/clock.ts';
import { accountTime } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { describeError } from '#observability/log.ts';

/**
 * Maximum number of periods per run: about a second of work, so that the process can stop quickly.
 */
const BATCH = 100;
/**
 * Pause before another try to end a period. While a network's chain is unreachable, all of its
 * accounts wait together.
 */
const RETRY_MS = 30_000;

/**
 * Calls `end` for accounts whose day, week or month may have ended.
 * @param end returns false to be called again after a pause.
 * @returns true if there may be more.
 */
export async function endPeriods(
  ctx: ProcessContext,
  input: {
    readonly task: PeriodTask;
    readonly modes: readonly boolean[];
    /** The log message if `end` throws. */
    readonly failure: string;
  },
  end: (due: DuePeriod) => Promise<boolean>,
): Promise<boolean> {
  const { task, modes, failure } = input;
  const now = ctx.clock.now();
  const tenants = await selectDuePeriods(ctx.db, { task, modes, now, limit: BATCH });
  for (const tenant of tenants) {
    const due = { tenant, task, now };
    const isEnded = await end(due).catch((error: unknown) => {
      // One failed account must not hold up the others.
      ctx.log.error(failure, { account: tenant.accountId, error: describeError(error) });
      return false;
    });
    // `end` may have failed or rolled back its own retry, so schedule the retry here as well.
    if (!isEnded) await postponePeriod(ctx.db, due, addMs(now, RETRY_MS));
  }
  return tenants.length === BATCH;
}

/** Schedules a retry in the caller's transaction, so that a crash cannot lose it. */
export function retryPeriod(tx: Tx, due: DuePeriod): Promise<void> {
  return postponePeriod(tx, due, addMs(due.now, RETRY_MS));
}

/** A period that has ended. Its account is locked. */
export interface EndedPeriod {
  readonly account: AccountRow;
  readonly days: Days;
}

/**
 * Locks an account whose period may have ended, and sets its due time to the end of the current
 * period.
 * @param everyOf returns the account's interval.
 * @returns the last period that has ended; `null` if another worker was faster or the account has
 * no interval.
 */
export async function lockEndedPeriod(
  tx: Tx,
  due: DuePeriod,
  everyOf: (account: AccountRow) => Every | null,
): Promise<EndedPeriod | null> {
  const { tenant, now } = due;
  const account = await lockOwnAccount(tx, tenant.accountId);
  const every = everyOf(account);
  if (every === null || !(await lockDuePeriod(tx, due))) return null;
  const time = await accountTime(tx, tenant, now);
  const shop = shopDays(account, tenant.livemode);
  const today = dayIn(shop, time);
  const next = nextPeriodStart(shop, every, today);
  await updatePeriodDue(tx, due, addMs(next, now.getTime() - time.getTime()));
  return { account, days: lastPeriod(every, today) };
}
