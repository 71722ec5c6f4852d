import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';

/** Stores rows of a shop at a time in the past, for tests that count them. */

/** An intent of 2 USDC at the terminal `tml_1`. Its id is `pi_<n>`. */
interface StoredIntent {
  readonly n: number;
  readonly created: Date;
  readonly status: 'requires_payment_method' | 'canceled' | 'succeeded';
  /** The error of its last attempt, as JSON. */
  readonly lastError?: string | null;
  /** Milliseconds from the intent to its payment, `pay_<n>`. Default: 0. */
  readonly settleMs?: number;
}

export async function insertIntent(
  sql: Sql,
  accountId: string,
  { n, created, status, lastError = null, settleMs = 0 }: StoredIntent,
): Promise<void> {
  await sql.query(
    `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
       order_id, metadata, source, expires_at, status, last_payment_error, tapped_at, attempt,
       payment_id, tx_hash, cancellation_reason, canceled_at)
     select 'pi_' || n, $1, false, n, at, 2000000, 'tml_1', 'n' || n, '{}', 'api',
       at + interval '2 minutes', $4, $5::text::jsonb, case when $4 = 'succeeded' then at end,
       case when $4 = 'succeeded' then '{}'::jsonb end,
       case when $4 = 'succeeded' then 'pay_' || n end,
       case when $4 = 'succeeded' then '0x' || repeat('0', 64) end,
       case when $4 = 'canceled' then 'expired' end, case when $4 = 'canceled' then at end
     from (select $2::bigint as n, $3::timestamptz as at) given`,
    [accountId, n, created, status, lastError],
  );
  if (status !== 'succeeded') return;
  await sql.query(
    `insert into payments (id, account_id, livemode, position, created, payment_intent_id,
       terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
       fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number, tx_hash,
       block_number, log_index, settled_at, refundable_until)
     select 'pay_' || n, $1, false, n, at, 'pi_' || n, 'tml_1', 'pyr_1', '0x', 'n' || n,
       'wallet_pass', 'nfc_id', 2000000, 3, 2, 1, 31337, n, n, '0x', n, 0, at, at
     from (select $2::bigint as n, $3::timestamptz as at) given`,
    [accountId, n, new Date(created.getTime() + settleMs)],
  );
}

/** The only webhook endpoint of these rows. */
export const STORED_ENDPOINT = 'we_1';

export async function insertEndpoint(sql: Sql, accountId: string, created: Date): Promise<void> {
  await sql.query(
    `insert into webhook_endpoints (id, account_id, livemode, url, enabled_events, api_version,
       secret, created, updated)
     values ($3, $1, false, 'https://shop.example/', '{*}', '2026-09-28', '', $2, $2)`,
    [accountId, created, STORED_ENDPOINT],
  );
  const lease = 'insert into webhook_endpoint_leases (endpoint_id) values ($1)';
  await sql.query(lease, [STORED_ENDPOINT]);
}

/** Stores the delivery of event `evt_<n>`. @returns its id. */
export async function insertDelivery(
  sql: Sql,
  accountId: string,
  { n, created, status }: { n: number; created: Date; status: 'succeeded' | 'failed' },
): Promise<string> {
  const id = newId('webhookDelivery', created);
  await sql.query(
    `insert into webhook_deliveries (endpoint_id, status, event_created, event_position, id,
       account_id, livemode, event_id, event_type, created, updated, attempt)
     values ($1, $2, $3, $4, $5, $6, false, $7, 'ping', $3, $3, 12)`,
    [STORED_ENDPOINT, status, created, n, id, accountId, `evt_${n}`],
  );
  return id;
}

/** Stores an entry of the request log. */
export async function insertCall(
  sql: Sql,
  { accountId, livemode }: Tenant,
  { at, status, path = '/api/v1/balance' }: { at: Date; status: number; path?: string },
): Promise<void> {
  await sql.query(
    `insert into request_log (id, created, account_id, livemode, method, path, status, api_version,
       duration_ms, address)
     values ($1, $2, $3, $4, 'GET', $5, $6, '2026-09-28', 3, '127.0.0.1')`,
    [newId('request', at), at, accountId, livemode, path, status],
  );
}
