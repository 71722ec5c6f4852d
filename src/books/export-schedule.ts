import {
  type AccountRow,
  type DaysAccount,
  selectMode,
  setExportMember,
} from '#accounts/account-queries.ts';
import type { DuePeriod } from '#accounts/period-end-queries.ts';
import { endPeriods, lockEndedPeriod } from '#accounts/period-ends.ts';
import {
  type ScheduledExport,
  scheduledExports,
  selectLastDay,
} from '#books/export-schedule-queries.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { type Days, dayIn, lastPeriod, shopDays } from '#core/calendar.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import { networkOf } from '#core/mode.ts';
import { accountTime, stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { appendEvents } from '#events/append-events.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { selectReaderId } from '#people/membership-queries.ts';
import type { Mailing } from '#people/people-context.ts';

/**
 * Validity of a link, which is for downloading the file soon. Later, users export the file in the
 * dashboard.
 */
const LINK_MS = 7 * DAY_MS;

/** The path under which links to exports are served. */
export const EXPORT_LINKS = '/api/dashboard/v1/exports';

/**
 * Records the last ended period as done, so that a new schedule begins with the current period. The
 * account must be locked.
 */
export async function beginSchedule(
  tx: Tx,
  { account, now }: { readonly account: DaysAccount; readonly now: Date },
  { every, format }: Pick<ScheduledExport, 'every' | 'format'>,
): Promise<void> {
  const { id: accountId, time_zone: timeZone } = account;
  for (const livemode of [false, true]) {
    const time = await accountTime(tx, { accountId, livemode }, now);
    const today = dayIn(shopDays(account, livemode), time);
    const { from, to } = lastPeriod(every, today);
    const period = { account_id: accountId, livemode, every, from_day: from, to_day: to };
    const row = { ...period, time_zone: timeZone, format, token_hash: null, expires_at: null };
    await scheduledExports.insertAll(tx, [row], 'on conflict do nothing');
  }
}

/**
 * Announces the statements of ended periods, each once, by a mail with a link.
 * @returns true if there may be more.
 */
export async function announceExports(ctx: ProcessContext, mailing: Mailing): Promise<boolean> {
  const failure = 'a scheduled export failed';
  return endPeriods(ctx, { task: 'export', modes: [false, true], failure }, async (due) => {
    const deliveries = await ctx.db.transaction((tx) => announce(tx, mailing, due));
    if (deliveries > 0) ctx.wakeups.send('deliveries');
    return true;
  });
}

/** @returns the number of deliveries. */
async function announce(tx: Tx, mailing: Mailing, due: DuePeriod): Promise<number> {
  const { tenant, now } = due;
  const ended = await lockEndedPeriod(tx, due, (account) => account.export_schedule?.every ?? null);
  const schedule = ended?.account.export_schedule ?? null;
  if (ended === null || schedule === null || ended.account.status !== 'active') return 0;
  const { account, days } = ended;
  const { every, format, email } = schedule;
  const mode = await selectMode(tx, tenant);
  if (mode?.merchant_number == null) return 0;
  const last = await selectLastDay(tx, tenant, every);
  if (last !== null && days.to <= last) return 0;
  const token = newSecret('exportLink');
  const stamp = await stampOrder(tx, tenant, now, 1);
  const expires = addMs(stamp.created, LINK_MS);
  const row = {
    ...{ account_id: account.id, livemode: tenant.livemode, every, format },
    ...{ from_day: days.from, to_day: days.to, time_zone: account.time_zone },
    ...{ token_hash: hashSecret(token), expires_at: expires },
  };
  const stored = await scheduledExports.upsert(tx, row, 'on conflict do nothing');
  if (stored === undefined) return 0;
  const url = `${mailing.webUrl}${EXPORT_LINKS}/${token}`;
  if (email !== undefined && (await mayMail(tx, account, email))) {
    const file = { format, url, livemode: tenant.livemode };
    const mail = mailOf(account.name, days, file);
    await queueMail(tx, mailing.secretKey, { to: email, ...mail, now });
  }
  const object = {
    ...{ object: 'export', url, format, from: days.from, to: days.to },
    expires_at: expires.toISOString(),
  };
  const objectId = `export ${every} ${days.from}`;
  return appendEvents(tx, [{ tenant, type: 'export.ready', objectId, object, stamp }]);
}

/**
 * Returns false for the address of a person who was a member and can no longer see the books. An
 * address that is no member's, such as an accountant's, always gets the mails.
 */
async function mayMail(
  tx: Tx,
  { id: accountId, export_member: known }: AccountRow,
  email: string,
): Promise<boolean> {
  const reader = await selectReaderId(tx, { accountId, email });
  if (reader !== null && reader !== known) await setExportMember(tx, accountId, reader);
  return reader !== null || known === null;
}

function mailOf(
  accountName: string,
  { from, to }: Days,
  { format, url, livemode }: { format: string; url: string; livemode: boolean },
) {
  const account = accountInMail(accountName);
  const span = from === to ? from : `${from} to ${to}`;
  return {
    subject: `Your Tapline statement: ${span}`,
    text:
      `The statement of ${account} on ${networkOf(livemode)} for ${span} is ready ` +
      `(format: ${format}).\n\n${url}\n\nThe link works for seven days and needs no sign-in.\n`,
    buttons: [{ url, name: 'Download the statement' }],
  };
}
