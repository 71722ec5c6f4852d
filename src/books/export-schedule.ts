import {
  type AccountRow,
  type DaysAccount,
  selectAccount,
  selectMode,
  setExportMember,
} from '#accounts/account-queries.ts';
import type { DuePeriod } from '#accounts/period-end-queries.ts';
import { endPeriods, lockEndedPeriod, retryPeriod } from '#accounts/period-ends.ts';
import type { DatevRefusal } from '#books/datev.ts';
import { planDatev } from '#books/datev-file.ts';
import {
  type ScheduledExport,
  scheduledExports,
  selectLastDay,
} from '#books/export-schedule-queries.ts';
import { openDays } from '#books/statement.ts';
import { isRefusal } from '#core/answer.ts';
import { hashSecret, newSecret } from '#core/bearer-secrets.ts';
import { type Days, dayIn, lastPeriod, shopDays } from '#core/calendar.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';
import { networkOf } from '#core/mode.ts';
import { accountTime, stampOrder } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { appendEvents } from '#events/append-events.ts';
import { writerFor } from '#i18n/text.ts';
import { accountInMail } from '#people/account-name-in-mail.ts';
import { type Mail, queueMail } from '#people/mail-outbox.ts';
import { selectOwnerEmails, selectReaderId } from '#people/membership-queries.ts';
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
  // While recovery may still add lost rows, a statement can lack entries, and its link is refused.
  const modes = [false, true].filter((livemode) => ctx.db.watch.serves(livemode));
  const failure = 'a scheduled export failed';
  return endPeriods(ctx, { task: 'export', modes, failure }, async (due) => {
    const draft = await draftExport(ctx.db, due);
    const deliveries = await ctx.db.transaction((tx) => announce(tx, mailing, { due, draft }));
    if (deliveries > 0) ctx.wakeups.send('deliveries');
    return true;
  });
}

/** The statement of a period, read before it is announced. */
interface Draft {
  readonly days: Days;
  /** The version of the account whose settings it was read with. */
  readonly version: number;
  /** The number of its entries, or why it cannot be written. */
  readonly result: number | DatevRefusal;
}

/**
 * Reads the statement outside of the transaction that announces it, because a month can have a
 * hundred thousand entries. Does not close the period: the download does.
 */
async function draftExport(db: Database, { tenant, now }: DuePeriod): Promise<Draft | null> {
  const account = await selectAccount(db, tenant.accountId);
  if (account?.export_schedule == null) return null;
  const { every, format } = account.export_schedule;
  const shop = shopDays(account, tenant.livemode);
  const days = lastPeriod(every, dayIn(shop, await accountTime(db, tenant, now)));
  const statement = await openDays(db, { tenant, shop, now }, { ...days, closes: false });
  const plan = format === 'datev' ? await planDatev(db, statement) : null;
  return { days, version: account.version, result: isRefusal(plan) ? plan : statement.count };
}

/**
 * Schedules another try if the settings have changed since the draft, or another period has ended.
 * @returns the number of deliveries.
 */
async function announce(
  tx: Tx,
  mailing: Mailing,
  { due, draft }: { readonly due: DuePeriod; readonly draft: Draft | null },
): Promise<number> {
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
  if (draft?.version !== account.version || draft.days.from !== days.from) {
    await retryPeriod(tx, due);
    return 0;
  }
  const period = {
    ...{ account_id: account.id, livemode: tenant.livemode, every, format },
    ...{ from_day: days.from, to_day: days.to, time_zone: account.time_zone },
  };
  const to = email !== undefined && (await mayMail(tx, account, email)) ? email : null;
  if (typeof draft.result !== 'number') {
    const row = { ...period, token_hash: null, expires_at: null };
    const failed = await scheduledExports.upsert(tx, row, 'on conflict do nothing');
    const mail = failedMail(account, { ...draft, result: draft.result }, mailing.webUrl);
    if (failed !== undefined) await mailAll(tx, mailing, { account, to, mail, now });
    return 0;
  }
  const token = newSecret('exportLink');
  const stamp = await stampOrder(tx, tenant, now, 1);
  const expires = addMs(stamp.created, LINK_MS);
  const row = { ...period, token_hash: hashSecret(token), expires_at: expires };
  const stored = await scheduledExports.upsert(tx, row, 'on conflict do nothing');
  if (stored === undefined) return 0;
  const url = `${mailing.webUrl}${EXPORT_LINKS}/${token}`;
  const entries = draft.result;
  if (to !== null) {
    const mail = mailOf(account.name, days, { format, url, entries, livemode: tenant.livemode });
    await queueMail(tx, mailing.secretKey, { to, ...mail, now });
  }
  const object = {
    ...{ object: 'export', url, format, from: days.from, to: days.to, entries },
    expires_at: expires.toISOString(),
  };
  const objectId = `export ${every} ${days.from}`;
  return appendEvents(tx, [{ tenant, type: 'export.ready', objectId, object, stamp }]);
}

/** Mails the owners, and the address of the schedule. */
async function mailAll(
  tx: Tx,
  { secretKey }: Mailing,
  input: {
    readonly account: AccountRow;
    readonly to: string | null;
    readonly mail: Omit<Mail, 'to'>;
    readonly now: Date;
  },
): Promise<void> {
  const { account, to, mail, now } = input;
  const addresses = new Set(await selectOwnerEmails(tx, account.id));
  if (to !== null) addresses.add(to);
  for (const address of addresses) await queueMail(tx, secretKey, { to: address, ...mail, now });
}

/** Returns the mail about a statement that cannot be written, with what to do. */
function failedMail(
  { name, language: chosen }: AccountRow,
  { days, result }: { readonly days: Days; readonly result: DatevRefusal },
  webUrl: string,
): Omit<Mail, 'to'> {
  const language = chosen ?? 'en';
  const { text } = writerFor(language);
  const { reason, subject } = result;
  const values = { account: accountInMail(name), days: spanOf(days) };
  const url = `${webUrl}/dashboard/settings`;
  return {
    language,
    subject: text('mail.export_failed.subject', { days: values.days }),
    text: [
      text('mail.export_failed.text', values),
      text('mail.export_failed.reason', { reason, subject }),
      text('mail.export_failed.then', { days: values.days }),
      `${url}\n`,
    ].join('\n\n'),
    buttons: [{ url, name: text('mail.export_failed.button') }],
  };
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

/** Returns a period as it reads in every language. */
function spanOf({ from, to }: Days): string {
  return from === to ? from : `${from} – ${to}`;
}

function mailOf(
  accountName: string,
  days: Days,
  file: { format: string; url: string; entries: number; livemode: boolean },
) {
  const { format, url, entries, livemode } = file;
  const account = accountInMail(accountName);
  const span = days.from === days.to ? days.from : `${days.from} to ${days.to}`;
  return {
    subject: `Your Tapline statement: ${span}`,
    text:
      `The statement of ${account} on ${networkOf(livemode)} for ${span} is ready ` +
      `(format: ${format}).${entries === 0 ? ' No entries.' : ''}\n\n${url}\n\n` +
      'The link works for seven days and needs no sign-in.\n',
    buttons: [{ url, name: 'Download the statement' }],
  };
}
