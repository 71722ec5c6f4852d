import {
  type AccountRow,
  type AccountUpdate,
  hasTimeZone,
  lockAccount,
  updateAccount,
} from '#accounts/account-queries.ts';
import { type Actor, recordEntry } from '#audit/audit.ts';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import { isTimeZone } from '#core/days.ts';
import { toJsonAtoms } from '#core/money.ts';
import { readName } from '#core/names.ts';
import { staleVersion } from '#core/stale-version.ts';
import type { Tx } from '#db/database.ts';

/** Bounds of what an account may choose; the table checks them as well. */
export const MAX_REFUND_WINDOW_DAYS = 3650;
export const MAX_REFUND_DAILY_LIMIT = 1_000_000_000_000_000;

export interface SettingsEdit {
  readonly version: number;
  readonly name?: string | undefined;
  readonly refundWindowDays?: number | undefined;
  /** Atoms per UTC day. */
  readonly refundDailyLimit?: number | undefined;
  readonly timeZone?: string | undefined;
}

function settingsOf(row: AccountRow): { readonly [key: string]: Json } {
  return {
    name: row.name,
    refund_window_days: row.refund_window_days,
    refund_daily_limit: toJsonAtoms(row.refund_daily_limit),
    time_zone: row.time_zone,
  };
}

interface AccountRef {
  readonly accountId: string;
  readonly actor: Actor;
  readonly now: Date;
}

/** Both count days: a zone that one of them does not know would fail later, in a request. */
async function unknownZone(tx: Tx, name: string): Promise<Refusal | null> {
  if (isTimeZone(name) && (await hasTimeZone(tx, name))) return null;
  return refuse(
    'parameter_invalid',
    'time_zone is no time zone that we know. Send an IANA name such as Europe/Berlin.',
    'time_zone',
  );
}

/**
 * Name, refund window, daily refund limit, time zone. A longer window is that of payments from then
 * on.
 */
export async function editAccount(
  tx: Tx,
  ref: AccountRef,
  edit: SettingsEdit,
  mayChange: (before: AccountRow, after: AccountUpdate) => Promise<Refusal | null>,
): Promise<AccountRow | Refusal> {
  const { timeZone } = edit;
  const wrongZone = timeZone === undefined ? null : await unknownZone(tx, timeZone);
  if (wrongZone !== null) return wrongZone;
  const before = await lockAccount(tx, ref.accountId);
  if (before === undefined) return refuse('resource_missing', 'No such account.', 'account');
  if (before.version !== edit.version) return staleVersion(before.version);
  const name = edit.name === undefined ? before.name : readName(edit.name, 'name');
  if (isRefusal(name)) return name;
  const limit = edit.refundDailyLimit;
  const change: AccountUpdate = {
    name,
    status: before.status,
    disabledReason: before.disabled_reason,
    kybStatus: before.kyb_status,
    refundWindowDays: edit.refundWindowDays ?? before.refund_window_days,
    refundDailyLimit: limit === undefined ? before.refund_daily_limit : BigInt(limit),
    timeZone: timeZone ?? before.time_zone,
  };
  const refused = await mayChange(before, change);
  if (refused !== null) return refused;
  const rows = await updateAccount(tx, before, change);
  const after = only(rows, 'account');
  await recordEntry(tx, {
    trail: ref.accountId,
    actor: ref.actor,
    action: 'account.settings_changed',
    objectId: ref.accountId,
    livemode: null,
    before: settingsOf(before),
    after: settingsOf(after),
    now: ref.now,
  });
  return after;
}

/** Disables an account (every key answers 403 within a second), or enables it again. */
export async function setAccountStatus(
  tx: Tx,
  ref: AccountRef,
  change: { readonly status: 'active' | 'disabled'; readonly reason: string },
): Promise<AccountRow | Refusal> {
  const before = await lockAccount(tx, ref.accountId);
  if (before === undefined) return refuse('resource_missing', 'No such account.', 'account');
  if (before.status === change.status) return before;
  const rows = await updateAccount(tx, before, {
    name: before.name,
    status: change.status,
    disabledReason: change.status === 'disabled' ? change.reason : null,
    kybStatus: before.kyb_status,
    refundWindowDays: before.refund_window_days,
    refundDailyLimit: before.refund_daily_limit,
    timeZone: before.time_zone,
  });
  await recordEntry(tx, {
    trail: ref.accountId,
    actor: ref.actor,
    action: change.status === 'disabled' ? 'account.disabled' : 'account.enabled',
    objectId: ref.accountId,
    livemode: null,
    before: { status: before.status },
    after: { status: change.status, reason: change.reason },
    now: ref.now,
  });
  return only(rows, 'account');
}
