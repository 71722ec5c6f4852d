import {
  type DueExport,
  insertScheduled,
  lockScheduled,
  type ScheduledExport,
  selectDueExports,
  selectLastDay,
} from '#books/schedule-queries.ts';
import { type Days, dayIn, lastPeriod } from '#core/calendar.ts';
import { addMs, addSeconds } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import { describeError } from '#core/log.ts';
import { networkOf } from '#core/mode.ts';
import { hashSecret, newSecret } from '#core/secrets.ts';
import { accountTime, stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { appendEvents } from '#events/append.ts';
import { queueMail } from '#people/mail.ts';
import { accountInMail } from '#people/mail-words.ts';
import type { Mailing } from '#people/people.ts';

/** A link is for downloading the file soon; a later one is exported in the dashboard. */
const LINK_MS = 7 * DAY_MS;

/** The address below which links of exports are. */
export const EXPORT_LINKS = '/api/dashboard/v1/exports';

/**
 * Records the period that has last ended, so that a schedule that is set now begins with the period
 * that goes on. The account must be locked.
 */
export async function beginSchedule(
  tx: Tx,
  account: { readonly accountId: string; readonly timeZone: string; readonly now: Date },
  { every, format }: Pick<ScheduledExport, 'every' | 'format'>,
): Promise<void> {
  const { accountId, timeZone, now } = account;
  for (const livemode of [false, true]) {
    const today = dayIn(timeZone, await accountTime(tx, { accountId, livemode }, now));
    const { from, to } = lastPeriod(every, today);
    await insertScheduled(tx, {
      ...{ account_id: accountId, livemode, every, from_day: from, to_day: to },
      ...{ time_zone: timeZone, format, token_hash: null, expires_at: null },
    });
  }
}

/** Announces the statements of periods that have ended, each once, with a link and a mail. */
export async function announceExports(ctx: ProcessContext, mailing: Mailing): Promise<boolean> {
  const now = ctx.clock.now();
  for (const due of await selectDueExports(ctx.db, now)) {
    const today = dayIn(due.time_zone, addSeconds(now, Number(due.ahead_seconds)));
    const days = lastPeriod(due.every, today);
    if (due.last_day !== null && days.to <= due.last_day) continue;
    try {
      const deliveries = await ctx.db.transaction((tx) =>
        announce(tx, mailing, { due, days, now }),
      );
      if (deliveries > 0) ctx.wakeups.send('deliveries');
    } catch (error) {
      // The others are independent of it; this one is tried again.
      const fields = { account: due.account_id, error: describeError(error) };
      ctx.log.error('a scheduled export failed', fields);
    }
  }
  return false;
}

interface Ended {
  readonly due: DueExport;
  readonly days: Days;
  readonly now: Date;
}

/** @returns the number of deliveries. */
async function announce(tx: Tx, mailing: Mailing, { due, days, now }: Ended): Promise<number> {
  const { account_id, livemode, every, format, time_zone } = due;
  const tenant = { accountId: account_id, livemode };
  if (!(await lockScheduled(tx, due))) return 0;
  const last = await selectLastDay(tx, tenant, every);
  if (last !== null && days.to <= last) return 0;
  const token = newSecret('exportLink');
  const stamp = await stampOrder(tx, tenant, now, 1);
  const expires = addMs(stamp.created, LINK_MS);
  await insertScheduled(tx, {
    ...{ account_id, livemode, every, format, time_zone },
    ...{ from_day: days.from, to_day: days.to },
    ...{ token_hash: hashSecret(token), expires_at: expires },
  });
  const url = `${mailing.webUrl}${EXPORT_LINKS}/${token}`;
  if (due.email !== null) {
    await queueMail(tx, mailing.secretKey, { to: due.email, ...mailOf(due, days, url), now });
  }
  const object = {
    ...{ object: 'export', url, format, from: days.from, to: days.to },
    expires_at: expires.toISOString(),
  };
  const objectId = `export ${every} ${days.from}`;
  return appendEvents(tx, [{ tenant, type: 'export.ready', objectId, object, stamp }]);
}

function mailOf({ account_name, livemode, format }: DueExport, { from, to }: Days, url: string) {
  const account = accountInMail(account_name);
  const span = from === to ? from : `${from} to ${to}`;
  return {
    subject: `Your Tapline statement: ${span}`,
    text:
      `The statement of ${account} on ${networkOf(livemode)} for ${span} is ready ` +
      `(format: ${format}).\n\n${url}\n\nThe link works for seven days and needs no sign-in.\n`,
    buttons: [{ url, name: 'Download the statement' }],
  };
}
