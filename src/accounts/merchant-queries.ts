import { accountModes, accounts, NAMED_ACCOUNT } from '#accounts/account-queries.ts';
import { apiKeys } from '#accounts/api-key-queries.ts';
import type { Sql } from '#db/database.ts';
import type { Row } from '#db/table.ts';

const KEY = apiKeys.pick(
  [
    'hash',
    'id',
    'account_id',
    'livemode',
    'scopes',
    'ip_allowlist',
    'api_version',
    'expires_at',
    'revoked_at',
  ],
  'k',
);
const MODE = accountModes.pick(['merchant_number', 'ahead_seconds'], 'm');

export type KeyMerchantRow = Row<typeof KEY> & Row<typeof NAMED_ACCOUNT> & Row<typeof MODE>;

export async function selectKeyMerchants(
  sql: Sql,
  hashes: readonly Buffer[],
): Promise<KeyMerchantRow[]> {
  return sql.query(
    `select ${KEY}, ${NAMED_ACCOUNT}, ${MODE} from api_keys k
     join accounts a on a.id = k.account_id
     join account_modes m on m.account_id = k.account_id and m.livemode = k.livemode
     where k.hash = any($1)`,
    [hashes],
  );
}

/** Skips locked rows: two processes that waited for several rows could deadlock. */
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

const MERCHANT = accounts.pick(
  {
    account_id: 'id',
    name: 'name',
    status: 'status',
    kyb_status: 'kyb_status',
    refund_window_days: 'refund_window_days',
    refund_daily_limit: 'refund_daily_limit',
    fiscal_signer: 'fiscal_signer',
  },
  'a',
);
const MERCHANT_MODE = accountModes.pick(['livemode', 'merchant_number'], 'm');

export type MerchantRow = Row<typeof MERCHANT> & Row<typeof MERCHANT_MODE>;

export async function selectMerchants(
  sql: Sql,
  accountIds: readonly string[],
): Promise<MerchantRow[]> {
  return sql.query(
    `select ${MERCHANT}, ${MERCHANT_MODE} from accounts a
     join account_modes m on m.account_id = a.id
     where a.id = any($1)`,
    [accountIds],
  );
}
