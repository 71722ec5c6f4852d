import {
  type AccountRow,
  type KybStatus,
  lockAccount,
  type SettingsUpdate,
  setExportMember,
  updateAccount,
} from '#accounts/account-queries.ts';
import { saveNameRequest, takeNameRequest } from '#accounts/name-request-queries.ts';
import { type LimitInput, readLimit } from '#accounts/read-limit.ts';
import { changeDayStart, dayStartsAt } from '#accounts/shop-days.ts';
import {
  checkDefaultRate,
  checkShopEdit,
  namedIn,
  type ShopEdit,
  type ShopSettings,
  selectShopSettings,
  updateShopSettings,
} from '#accounts/shop-settings.ts';
import { actorId } from '#audit/audit.ts';
import { type AccountRef, recordAccountChange } from '#audit/record-change.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import { isTimeZone } from '#core/calendar.ts';
import type { Json } from '#core/canonical-json.ts';
import { MAX_AMOUNT, toJsonAtoms } from '#core/money.ts';
import { readName } from '#core/name-rules.ts';
import { changedFields } from '#core/setting-classes.ts';
import { type StoredShopSum, storedShopSum } from '#core/shop-limit.ts';
import { staleVersion } from '#core/stale-version.ts';
import type { Tx } from '#db/database.ts';
import { rescheduleUnsigned } from '#fiscal/fiscal-queries.ts';
import type { Language } from '#i18n/languages.ts';
import { queueMail } from '#people/mail-outbox.ts';
import { selectOwnerEmails, selectReaderId } from '#people/membership-queries.ts';

/** Limits of an account's settings; the table checks them as well. */
export const MAX_REFUND_WINDOW_DAYS = 3650;
export const MAX_REFUND_DAILY_LIMIT = 1_000_000_000_000_000;

export interface SettingsEdit {
  readonly version: number;
  readonly name?: string | undefined;
  readonly refundWindowDays?: number | undefined;
  /** Per UTC day. */
  readonly refundDailyLimit?: LimitInput | undefined;
  /** Of one sale, at a till where nobody is signed in. */
  readonly tillRefundLimit?: LimitInput | undefined;
  readonly timeZone?: string | undefined;
  /** `null` if the account chose none, which means English. */
  readonly language?: Language | null | undefined;
  /** `null` for no automatic payouts. */
  readonly automaticPayout?: AccountRow['automatic_payout'] | undefined;
  readonly exportSchedule?: AccountRow['export_schedule'] | undefined;
  readonly datev?: AccountRow['datev'] | undefined;
  /** `HH:MM`, from 00:00 to 11:59. */
  readonly dayStartsAt?: string | undefined;
  /** The address that gets the reports of shifts, once its mailed link has confirmed it. */
  readonly reportEmail?: string | null | undefined;
  /** Prices, taxes and receipts. */
  readonly shop?: ShopEdit;
}

export interface SettingsChange {
  readonly before: AccountRow;
  readonly after: SettingsUpdate;
  /** The names of all fields that change, as in the API. */
  readonly changed: readonly string[];
}

function inShop(stored: StoredShopSum | null): Json {
  return stored === null ? null : { currency: stored.currency, amount: stored.amount };
}

function settingsOf(row: AccountRow): { readonly [key: string]: Json } {
  return {
    name: row.name,
    refund_window_days: row.refund_window_days,
    refund_daily_limit: toJsonAtoms(row.refund_daily_limit),
    refund_daily_limit_presentment: inShop(row.refund_daily_limit_presentment),
    till_refund_limit: toJsonAtoms(row.till_refund_limit),
    till_refund_limit_presentment: inShop(row.till_refund_limit_presentment),
    time_zone: row.time_zone,
    language: row.language,
    automatic_payout: row.automatic_payout,
    report_email: row.report_email_asked ?? row.report_email,
    export_schedule: row.export_schedule === null ? null : { ...row.export_schedule },
    datev: row.datev === null ? null : { ...row.datev },
    day_starts_at: dayStartsAt(row),
  };
}

export function unknownZone(name: string): Refusal | null {
  if (isTimeZone(name)) return null;
  return refuse(
    'parameter_invalid',
    'time_zone is not a known time zone. Choose a city from the list, such as Europe/Berlin.',
    'time_zone',
  );
}

/**
 * Changes name, refund window, daily refund limit, time zone, language, prices and taxes. A new
 * refund window applies to later payments.
 */
export async function editAccount(
  tx: Tx,
  ref: AccountRef,
  edit: SettingsEdit,
  mayChange: (change: SettingsChange) => Promise<Refusal | null>,
): Promise<AccountRow | Refusal> {
  const { timeZone } = edit;
  const wrong =
    (timeZone === undefined ? null : unknownZone(timeZone)) ?? checkShopEdit(edit.shop ?? {});
  if (wrong !== null) return wrong;
  const before = await lockAccount(tx, ref.accountId);
  if (before === undefined) return refuse('resource_missing', 'No such account.', 'account');
  if (before.version !== edit.version) return staleVersion(before.version);
  const name = edit.name === undefined ? before.name : readName(edit.name, 'name');
  if (isRefusal(name)) return name;
  const limits = await readLimits(tx, ref.accountId, edit);
  if (isRefusal(limits)) return limits;
  const change = {
    name,
    refund_window_days: edit.refundWindowDays ?? before.refund_window_days,
    refund_daily_limit: before.refund_daily_limit,
    refund_daily_limit_presentment: before.refund_daily_limit_presentment,
    till_refund_limit: before.till_refund_limit,
    till_refund_limit_presentment: before.till_refund_limit_presentment,
    ...limits,
    time_zone: timeZone ?? before.time_zone,
    language: edit.language === undefined ? before.language : edit.language,
    ...chosenBooks(edit, before),
    day_starts: await changeDayStart(tx, before, { at: edit.dayStartsAt, now: ref.now }),
  };
  const known = await selectShopSettings(tx, ref.accountId);
  const named = namedIn(edit.shop ?? {});
  const noRate = checkDefaultRate({ ...known, ...named });
  if (noRate !== null) return noRate;
  const changed = changedFields(
    { ...settingsOf(before), ...asJson(known) },
    { ...settingsOf({ ...before, ...change }), ...asJson({ ...known, ...named }) },
  );
  const refused = await mayChange({ before, after: change, changed });
  if (refused !== null) return refused;
  const wish = edit.name === undefined ? undefined : await wishForName(tx, ref, { before, name });
  const rows = await updateAccount(
    tx,
    before,
    wish == null ? change : { ...change, name: before.name },
  );
  const after = only(rows, 'account');
  if (changed.includes('export_schedule')) await saveExportMember(tx, after);
  const shop = await editShop(tx, ref, { known, named });
  await recordAccountChange(tx, ref, {
    action: 'account.settings_changed',
    before: { ...settingsOf(before), ...shop.before },
    after: {
      ...settingsOf(after),
      ...shop.after,
      ...(wish == null ? {} : { requested_name: wish }),
    },
  });
  return after;
}

type LimitColumns = Pick<
  AccountRow,
  | 'refund_daily_limit'
  | 'refund_daily_limit_presentment'
  | 'till_refund_limit'
  | 'till_refund_limit_presentment'
>;

/** Reads the limits of an edit, as the columns that they change. */
async function readLimits(
  tx: Tx,
  accountId: string,
  { refundDailyLimit, tillRefundLimit, shop }: SettingsEdit,
): Promise<Partial<LimitColumns> | Refusal> {
  const columns: { -readonly [Name in keyof LimitColumns]?: LimitColumns[Name] } = {};
  const place = { accountId, newCurrency: shop?.currency };
  if (refundDailyLimit !== undefined) {
    const most = MAX_REFUND_DAILY_LIMIT;
    const param = 'refund_daily_limit';
    const limit = await readLimit(tx, refundDailyLimit, { ...place, param, most });
    if (isRefusal(limit)) return limit;
    columns.refund_daily_limit = limit.atoms;
    columns.refund_daily_limit_presentment = storedShopSum(limit);
  }
  if (tillRefundLimit !== undefined) {
    const param = 'till_refund_limit';
    const limit = await readLimit(tx, tillRefundLimit, { ...place, param, most: MAX_AMOUNT });
    if (isRefusal(limit)) return limit;
    columns.till_refund_limit = limit.atoms;
    columns.till_refund_limit_presentment = storedShopSum(limit);
  }
  return columns;
}

async function saveExportMember(tx: Tx, { id: accountId, export_schedule }: AccountRow) {
  const email = export_schedule?.email;
  const member = email === undefined ? null : await selectReaderId(tx, { accountId, email });
  await setExportMember(tx, accountId, member);
}

function chosenBooks(edit: SettingsEdit, before: AccountRow) {
  return {
    automatic_payout: chosen(edit.automaticPayout, before.automatic_payout),
    ...reportEmails(edit.reportEmail, before),
    export_schedule: chosen(edit.exportSchedule, before.export_schedule),
    datev: chosen(edit.datev, before.datev),
  };
}

/** Returns the confirmed address and the one that waits for its confirmation. */
function reportEmails(
  edited: string | null | undefined,
  { report_email, report_email_asked }: AccountRow,
): Pick<AccountRow, 'report_email' | 'report_email_asked'> {
  if (edited === undefined) return { report_email, report_email_asked };
  if (edited === null) return { report_email: null, report_email_asked: null };
  return { report_email, report_email_asked: edited === report_email ? null : edited };
}

/** Returns the new value of a setting, or the current one if the edit omits it. */
function chosen<T>(edited: T | undefined, before: T): T {
  return edited === undefined ? before : edited;
}

/**
 * Stores changed settings of prices, taxes and receipts.
 * @returns the changed fields before and after.
 */
async function editShop(
  tx: Tx,
  { accountId, now }: AccountRef,
  edit: { readonly known: ShopSettings; readonly named: Partial<ShopSettings> },
) {
  const { known, named } = edit;
  if (Object.keys(named).length === 0) return { before: {}, after: {} };
  await updateShopSettings(tx, accountId, { ...known, ...named });
  if (named.fiscal_signer !== undefined) {
    const isOurs = named.fiscal_signer !== null && named.fiscal_signer.called_by === undefined;
    await rescheduleUnsigned(tx, accountId, isOurs ? now : null);
  }
  const before = Object.fromEntries(Object.entries(known).filter(([name]) => name in named));
  return { before: asJson(before), after: asJson(named) };
}

function asJson(settings: object): { readonly [key: string]: Json } {
  return JSON.parse(JSON.stringify(settings));
}

/**
 * Requests a new name. Payers trust a verified name, so the network's staff must approve a new one.
 * Requesting the current name withdraws an open request.
 * @returns the name that waits for approval; `null` if none does.
 */
async function wishForName(
  tx: Tx,
  { accountId, actor, now }: AccountRef,
  { before, name }: { readonly before: AccountRow; readonly name: string },
): Promise<string | null> {
  if (name === before.name) {
    await takeNameRequest(tx, accountId);
    return null;
  }
  if (!isReviewed(before.kyb_status)) return null;
  const row = { account_id: accountId, name, requested_by: actorId(actor), created: now };
  await saveNameRequest(tx, row);
  return name;
}

/** True if staff have reviewed this business under its name, or are reviewing it. */
function isReviewed(status: KybStatus): boolean {
  return status === 'approved' || status === 'pending';
}

function nameMail(names: { readonly old: string; readonly asked: string }, reason: string | null) {
  const { old, asked } = names;
  if (reason === null) {
    const text = `Payers see the name “${asked}” from now on, on receipts and at tills.\n`;
    return { subject: `${asked}: the new name of ${old}`, text };
  }
  return {
    subject: `${old} keeps its name`,
    text: `You asked for the name “${asked}”. It was not accepted: ${reason}\n`,
  };
}

/** Records the staff's decision on the new name of a verified business. */
export async function decideName(
  tx: Tx,
  ref: AccountRef & { readonly secretKey: Buffer },
  decision: { readonly approved: boolean; readonly reason: string },
): Promise<AccountRow | Refusal> {
  const { accountId, now, secretKey } = ref;
  const before = await lockAccount(tx, accountId);
  if (before === undefined) return refuse('resource_missing', 'No such account.', 'account');
  const request = await takeNameRequest(tx, accountId);
  if (request === undefined) return nobodyAsked();
  const { approved, reason } = decision;
  const { name: old } = before;
  const name = approved ? request : old;
  const after = only(await updateAccount(tx, before, { name }), 'account');
  const mail = nameMail({ old, asked: request }, approved ? null : reason);
  for (const to of await selectOwnerEmails(tx, accountId)) {
    await queueMail(tx, secretKey, { to, ...mail, now });
  }
  await recordAccountChange(tx, ref, {
    action: approved ? 'account.renamed' : 'account.name_rejected',
    before: { name: old },
    after: { name: after.name, asked: request, reason },
  });
  return after;
}

export function nobodyAsked(): Refusal {
  return refuse('unexpected_state', 'This account has no name change to review.');
}

/** Disables an account (every key gets 403 within a second), or enables it again. */
export async function setAccountStatus(
  tx: Tx,
  ref: AccountRef,
  change: { readonly status: 'active' | 'disabled'; readonly reason: string },
): Promise<AccountRow | Refusal> {
  const before = await lockAccount(tx, ref.accountId);
  if (before === undefined) return refuse('resource_missing', 'No such account.', 'account');
  if (before.status === change.status) return before;
  const rows = await updateAccount(tx, before, {
    status: change.status,
    disabled_reason: change.status === 'disabled' ? change.reason : null,
  });
  await recordAccountChange(tx, ref, {
    action: change.status === 'disabled' ? 'account.disabled' : 'account.enabled',
    before: { status: before.status },
    after: { status: change.status, reason: change.reason },
  });
  return only(rows, 'account');
}
