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
  readonly version: number;
  readonly created: Date;
}

const COLUMNS = `id, name, status, disabled_reason, kyb_status, refund_window_days,
  refund_daily_limit, version, created`;

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

export async function lockAccount(tx: Tx, id: string): Promise<AccountRow | undefined> {
  const rows = await tx.query<AccountRow>(
    `select ${COLUMNS} from accounts where id = $1 for update`,
    [id],
  );
  return rows[0];
}

export interface AccountUpdate {
  readonly name: string;
  readonly status: 'active' | 'disabled';
  readonly disabledReason: string | null;
  readonly kybStatus: KybStatus;
  readonly refundWindowDays: number;
  readonly refundDailyLimit: bigint;
}

/** The row must be locked, and be at `version`. */
export async function updateAccount(
  tx: Tx,
  of: { readonly id: string; readonly version: number },
  update: AccountUpdate,
): Promise<AccountRow[]> {
  return tx.query<AccountRow>(
    `update accounts set name = $3, status = $4, disabled_reason = $5, kyb_status = $6,
       refund_window_days = $7, refund_daily_limit = $8, version = version + 1
     where id = $1 and version = $2 returning ${COLUMNS}`,
    [
      of.id,
      of.version,
      update.name,
      update.status,
      update.disabledReason,
      update.kybStatus,
      update.refundWindowDays,
      update.refundDailyLimit,
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

export async function selectMode(
  sql: Sql,
  of: { readonly accountId: string; readonly livemode: boolean },
): Promise<ModeRow | undefined> {
  const rows = await sql.query<ModeRow>(
    `select livemode, merchant_number, settlement_wallet, live_at from account_modes
     where account_id = $1 and livemode = $2`,
    [of.accountId, of.livemode],
  );
  return rows[0];
}
