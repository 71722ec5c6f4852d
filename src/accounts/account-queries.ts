import { present } from '#core/assert.ts';
import type { Language } from '#core/languages.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';

export type KybStatus = 'none' | 'pending' | 'approved' | 'rejected';

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly status: 'active' | 'disabled';
  readonly disabled_reason: string | null;
  readonly kyb_status: KybStatus;
  readonly refund_window_days: number;
  readonly refund_daily_limit: bigint;
  /** An IANA time zone, in which its people count days. Limits use UTC days. */
  readonly time_zone: string;
  /** The language for customers whose browsers request none; `null` for English. */
  readonly language: Language | null;
  readonly version: number;
  readonly created: Date;
}

const COLUMNS = `id, name, status, disabled_reason, kyb_status, refund_window_days,
  refund_daily_limit, time_zone, language, version, created`;

export async function insertAccount(
  tx: Tx,
  account: { readonly id: string; readonly name: string; readonly now: Date },
): Promise<void> {
  await tx.query(
    `with account as (
       insert into accounts (id, name, created) values ($1, $2, $3) returning id
     )
     insert into account_modes (account_id, livemode)
     select id, mode from account, (values (false), (true)) as modes (mode)`,
    [account.id, account.name, account.now],
  );
}

export async function selectAccount(sql: Sql, id: string): Promise<AccountRow | undefined> {
  const rows = await sql.query<AccountRow>(`select ${COLUMNS} from accounts where id = $1`, [id]);
  return rows[0];
}

/** UTC for an account that does not exist, since it has nothing to count. */
export async function selectTimeZone(sql: Sql, accountId: string): Promise<string> {
  const rows = await sql.query<{ time_zone: string }>(
    'select time_zone from accounts where id = $1',
    [accountId],
  );
  return rows[0]?.time_zone ?? 'UTC';
}

/** `null` if it has not chosen one. */
export async function selectLanguage(sql: Sql, accountId: string): Promise<Language | null> {
  const rows = await sql.query<{ language: Language | null }>(
    'select language from accounts where id = $1',
    [accountId],
  );
  return rows[0]?.language ?? null;
}

export async function lockAccount(tx: Tx, id: string): Promise<AccountRow | undefined> {
  const rows = await tx.query<AccountRow>(
    `select ${COLUMNS} from accounts where id = $1 for update`,
    [id],
  );
  return rows[0];
}

/** The account of a member or key of that account, so it exists. */
export async function lockOwnAccount(tx: Tx, id: string): Promise<AccountRow> {
  return present(await lockAccount(tx, id), 'account');
}

export interface AccountUpdate {
  readonly name: string;
  readonly status: 'active' | 'disabled';
  readonly disabledReason: string | null;
  readonly kybStatus: KybStatus;
  readonly refundWindowDays: number;
  readonly refundDailyLimit: bigint;
  readonly timeZone: string;
  readonly language: Language | null;
}

/** The row must be locked, and at `version`. */
export async function updateAccount(
  tx: Tx,
  change: { readonly id: string; readonly version: number },
  update: AccountUpdate,
): Promise<AccountRow[]> {
  return tx.query<AccountRow>(
    `update accounts set name = $3, status = $4, disabled_reason = $5, kyb_status = $6,
       refund_window_days = $7, refund_daily_limit = $8, time_zone = $9, language = $10,
       version = version + 1
     where id = $1 and version = $2 returning ${COLUMNS}`,
    [
      change.id,
      change.version,
      update.name,
      update.status,
      update.disabledReason,
      update.kybStatus,
      update.refundWindowDays,
      update.refundDailyLimit,
      update.timeZone,
      update.language,
    ],
  );
}

export interface ModeRow {
  readonly livemode: boolean;
  readonly merchant_number: bigint | null;
  readonly settlement_wallet: string | null;
  readonly live_at: Date | null;
}

export async function selectModes(sql: Sql, accountId: string): Promise<ModeRow[]> {
  return sql.query(
    `select livemode, merchant_number, settlement_wallet, live_at from account_modes
     where account_id = $1 order by livemode`,
    [accountId],
  );
}

/** In the order of their ids. */
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

/** The account's numbers on the contracts, the oldest contract first. Empty if it is not live. */
export async function selectMerchantNumbers(sql: Sql, tenant: Tenant): Promise<bigint[]> {
  const rows = await sql.query<{ merchant_number: bigint }>(
    `select merchant_number from merchant_accounts
     where account_id = $1 and livemode = $2 order by merchant_number`,
    [tenant.accountId, tenant.livemode],
  );
  return rows.map((row) => row.merchant_number);
}

export async function selectMode(
  sql: Sql,
  wanted: { readonly accountId: string; readonly livemode: boolean },
): Promise<ModeRow | undefined> {
  const rows = await sql.query<ModeRow>(
    `select livemode, merchant_number, settlement_wallet, live_at from account_modes
     where account_id = $1 and livemode = $2`,
    [wanted.accountId, wanted.livemode],
  );
  return rows[0];
}
