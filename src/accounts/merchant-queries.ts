import type { Scope } from '#accounts/scopes.ts';
import type { Sql } from '#db/database.ts';

/** A key with its account's permissions. */
export interface KeyMerchantRow {
  hash: Buffer;
  id: string;
  account_id: string;
  livemode: boolean;
  scopes: Scope[];
  ip_allowlist: string[];
  api_version: string;
  expires_at: Date | null;
  revoked_at: Date | null;
  account_name: string;
  account_status: 'active' | 'disabled';
  kyb_status: string;
  merchant_number: bigint | null;
  /** How far the test clock of the account and mode is ahead. */
  ahead_seconds: bigint;
}

export async function selectKeyMerchants(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<KeyMerchantRow[]> {
  return sql.query(
    `select k.hash, k.id, k.account_id, k.livemode, k.scopes, k.ip_allowlist, k.api_version,
       k.expires_at, k.revoked_at, a.name as account_name, a.status as account_status,
       a.kyb_status, m.merchant_number, m.ahead_seconds
     from api_keys k
     join accounts a on a.id = k.account_id
     join account_modes m on m.account_id = k.account_id and m.livemode = k.livemode
     where k.hash = any($1)`,
    [hashes],
  );
}

/** Skips rows that are locked: if they waited for several rows, two processes could deadlock. */
export async function updateLastUsed(sql: Sql, ids: readonly string[], now: Date): Promise<void> {
  await sql.query(
    `update api_keys k set last_used_at = $2
     from (
       select id from api_keys
       where id = any($1)
         and (last_used_at is null or last_used_at < $2)
       for no key update skip locked
     ) used
     where k.id = used.id`,
    [ids, now],
  );
}

export interface MerchantRow {
  account_id: string;
  livemode: boolean;
  name: string;
  status: 'active' | 'disabled';
  kyb_status: string;
  merchant_number: bigint | null;
  refund_window_days: number;
  refund_daily_limit: bigint;
}

export async function selectMerchants(
  sql: Sql,
  accountIds: readonly string[],
): Promise<MerchantRow[]> {
  return sql.query(
    `select a.id as account_id, m.livemode, a.name, a.status, a.kyb_status, m.merchant_number,
       a.refund_window_days, a.refund_daily_limit
     from accounts a join account_modes m on m.account_id = a.id
     where a.id = any($1)`,
    [accountIds],
  );
}
