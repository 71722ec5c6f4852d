import { present } from '#core/assert.ts';
import type { DayStarts } from '#core/calendar.ts';
import type { Tenant } from '#core/mode.ts';
import type { StoredShopSum } from '#core/shop-limit.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Language } from '#i18n/languages.ts';

export type KybStatus = 'none' | 'pending' | 'approved' | 'rejected';

export interface ExportSchedule {
  readonly every: 'day' | 'week' | 'month';
  readonly format: string;
  /** The address to which the statement's link is mailed; absent if no mail is sent. */
  readonly email?: string;
}

/** The accounts of the accountant's chart to which the DATEV export posts. */
export interface DatevAccounts {
  readonly chart: 'skr03' | 'skr04';
  /** By tax rate in basis points; `none` is for sales without lines. */
  readonly revenue: { readonly [rate: string]: string };
  /** `null` for the revenue account of the highest rate. */
  readonly tips: string | null;
  /** Money in transit: the balance at Tapline. */
  readonly clearing: string;
  readonly bank: string;
  readonly rounding: string;
}

export const accounts = table('accounts', {
  id: 'text',
  name: 'text',
  status: as<'active' | 'disabled'>('text'),
  disabled_reason: 'text?',
  kyb_status: as<KybStatus>('text'),
  refund_window_days: 'int',
  refund_daily_limit: 'bigint',
  refund_daily_limit_presentment: as<StoredShopSum | null>('jsonb?'),
  /** Atoms of one sale that a till may refund while nobody is signed in. */
  till_refund_limit: 'bigint',
  till_refund_limit_presentment: as<StoredShopSum | null>('jsonb?'),
  /** The IANA time zone of the account's days. Limits use UTC days. */
  time_zone: 'text',
  /** The language for browsers that request none of the offered ones; `null` for English. */
  language: as<Language | null>('text?'),
  /** The address of the service that signs receipts; `null` if there is none. */
  fiscal_signer: 'text?',
  /** The interval of automatic payouts of the balance; `null` if there are none. */
  automatic_payout: as<'daily' | 'weekly' | null>('text?'),
  /** The schedule of automatic statements; `null` if none are sent. */
  export_schedule: as<ExportSchedule | null>('jsonb?'),
  /** The member who gets the mails of that schedule; `null` if the address is no member's. */
  export_member: 'text?',
  /** The confirmed address to which the reports of shifts are mailed; `null` if there is none. */
  report_email: 'text?',
  /** The address that its mailed link has not confirmed yet. */
  report_email_asked: 'text?',
  organization_id: 'text?',
  /** `null` until the accounts of the DATEV export are set. */
  datev: as<DatevAccounts | null>('jsonb?'),
  /** `null` while days have always started at 00:00. */
  day_starts: as<DayStarts | null>('jsonb?'),
  version: 'int',
  created: 'timestamptz',
});

export type AccountRow = Row<typeof accounts>;

/** The facts of an account from which its days follow. */
export type DaysAccount = Pick<AccountRow, 'id' | 'time_zone' | 'day_starts'>;

/** Columns of an object's account, joined as `a`. */
export const NAMED_ACCOUNT = accounts.pick(
  { account_name: 'name', account_status: 'status', kyb_status: 'kyb_status' },
  'a',
);

export async function insertAccount(
  tx: Tx,
  account: {
    readonly id: string;
    readonly name: string;
    readonly now: Date;
    readonly currency?: string | null;
    /** UTC if absent or `null`. */
    readonly timeZone?: string | null;
  },
): Promise<void> {
  await tx.query(
    `with account as (
       insert into accounts (id, name, created, currency, time_zone)
       values ($1, $2, $3, $4, coalesce($5, 'UTC')) returning id
     )
     insert into account_modes (account_id, livemode)
     select id, mode from account, (values (false), (true)) as modes (mode)`,
    [account.id, account.name, account.now, account.currency ?? null, account.timeZone ?? null],
  );
}

export async function selectAccount(sql: Sql, id: string): Promise<AccountRow | undefined> {
  return accounts.find(sql, 'where id = $1', [id]);
}

export async function lockAccount(tx: Tx, id: string): Promise<AccountRow | undefined> {
  return accounts.find(tx, 'where id = $1 for update', [id]);
}

/** Locks the account of a member or key. The account exists, because its member or key does. */
export async function lockOwnAccount(tx: Tx, id: string): Promise<AccountRow> {
  return present(await lockAccount(tx, id), 'account');
}

/** The settings that the account's owners choose. */
export type SettingsUpdate = Pick<
  AccountRow,
  | 'name'
  | 'refund_window_days'
  | 'refund_daily_limit'
  | 'refund_daily_limit_presentment'
  | 'till_refund_limit'
  | 'till_refund_limit_presentment'
  | 'time_zone'
  | 'language'
  | 'automatic_payout'
  | 'export_schedule'
  | 'report_email'
  | 'report_email_asked'
  | 'datev'
  | 'day_starts'
>;

/** Confirms the address. @returns false if the account no longer asks for it */
export async function confirmReportEmail(
  tx: Tx,
  confirmed: { readonly accountId: string; readonly email: string },
): Promise<boolean> {
  const rows = await tx.query(
    `update accounts set report_email = $2, report_email_asked = null, version = version + 1
     where id = $1 and report_email_asked = $2 returning id`,
    [confirmed.accountId, confirmed.email],
  );
  return rows.length === 1;
}

/** The caller must have locked the row, which must still be at `version`. */
export async function updateAccount(
  tx: Tx,
  { id, version }: Pick<AccountRow, 'id' | 'version'>,
  update: Partial<Omit<AccountRow, 'id' | 'version' | 'created'>>,
): Promise<AccountRow[]> {
  const unchanged = { where: 'id = $1 and version = $2', values: [id, version] };
  return accounts.update(tx, update, { ...unchanged, also: 'version = version + 1' });
}

/** Sets the member who gets the mails of the export schedule. The row must be locked. */
export async function setExportMember(
  tx: Tx,
  accountId: string,
  userId: string | null,
): Promise<void> {
  await tx.query('update accounts set export_member = $2 where id = $1', [accountId, userId]);
}

export const accountModes = table(
  'account_modes',
  {
    livemode: 'boolean',
    merchant_number: 'bigint?',
    settlement_wallet: 'text?',
    live_at: 'timestamptz?',
  },
  /** Seconds by which the test clock of the account and mode is ahead of the service's clock. */
  { ahead_seconds: 'bigint' },
);

export type ModeRow = Row<typeof accountModes>;

export async function selectModes(sql: Sql, accountId: string): Promise<ModeRow[]> {
  return accountModes.list(sql, 'where account_id = $1 order by livemode', [accountId]);
}

/** Returns account IDs in ascending order. */
export async function selectAccountIdsAfter(
  sql: Sql,
  portion: { readonly after: string; readonly limit: number },
): Promise<string[]> {
  const rows = await sql.query<{ id: string }>(
    'select id from accounts where id > $1 order by id limit $2',
    [portion.after, portion.limit],
  );
  return rows.map((row) => row.id);
}

/** Returns the account's merchant numbers, oldest contract first; empty if it is not live. */
export async function selectMerchantNumbers(sql: Sql, tenant: Tenant): Promise<bigint[]> {
  const rows = await sql.query<{ merchant_number: bigint }>(
    `select merchant_number from merchant_accounts
     where account_id = $1 and livemode = $2 order by merchant_number`,
    [tenant.accountId, tenant.livemode],
  );
  return rows.map((row) => row.merchant_number);
}

export async function selectMode(sql: Sql, tenant: Tenant): Promise<ModeRow | undefined> {
  const values = [tenant.accountId, tenant.livemode];
  return accountModes.find(sql, 'where account_id = $1 and livemode = $2', values);
}
