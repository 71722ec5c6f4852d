import pg from 'pg';
import { only } from '#core/assert.ts';

/** The owner of the rows, and the rows' numbers. */
export interface Filling {
  readonly accountId: string;
  readonly terminalId: string;
  /** Numbers of the first row (`from`) and the last row (`to`). */
  readonly from: number;
  readonly to: number;
}

const N = 'generate_series($5::int, $6::int) as n';
const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 22, '0')`;
const HASH = `'0x' || lpad(to_hex(n / 100), 64, '0')`;
const ATTEMPT = `'{"payerId": "pyr_filled", "payerAddress": "0x", "reasonCode": null,
  "credential": {"type": "nfc_id", "passId": "pass_x"}}'::jsonb`;
/**
 * SQL for the time of row `n`; later rows are newer. All are days old, so that none counts toward
 * today's limits.
 */
const AT = `date_trunc('day', now()) - interval '3 days' + n * interval '1 s'`;

/**
 * Statements that insert rows into one account's test mode, like months of sales: settled,
 * refunded, canceled and open intents with events, deliveries, stored responses, jobs and
 * transactions. `$2` is the account, `$3` the terminal, `$4` a disabled endpoint, `$5` the first
 * row and `$6` the last.
 */
const STATEMENTS = [
  `insert into payment_intents (id, account_id, livemode, position, created, amount, terminal_id,
     order_id, metadata, source, expires_at, status, attempt, payment_id, tx_hash,
     cancellation_reason, canceled_at, settlement_number)
   select ${id('pi')}, $2, false, -1000000000 + n, ${AT}, 2500000, $3,
     'f' || lpad(to_hex(n), 7, '0'), '{}', 'api',
     case when status = 'canceled' then ${AT} else now() + interval '1 hour' end, status,
     case when status = 'succeeded' then ${ATTEMPT} end,
     case when status = 'succeeded' then ${id('pay')} end,
     case when status = 'succeeded' then ${HASH} end,
     case when status = 'canceled' then 'expired' end,
     case when status = 'canceled' then ${AT} end, 1000000000 + n
   from ${N}, lateral (select case n % 10 when 0 then 'canceled' when 1 then
     'requires_payment_method' else 'succeeded' end as status) s`,
  `insert into payments (id, account_id, livemode, position, created, payment_intent_id,
     terminal_id, payer_id, payer_address, order_id, method_type, credential_type, amount,
     fee_acquirer, fee_protocol, fee_cashback, chain_id, settlement_number, batch_number, tx_hash,
     block_number, log_index, settled_at, refundable_until)
   select ${id('pay')}, $2, false, -1000000000 + n, ${AT}, ${id('pi')}, $3, ${id('pyr')},
     '0x' || repeat('0', 40),
     'f' || lpad(to_hex(n), 7, '0'), 'wallet_pass', 'nfc_id', 2500000, 7500, 5000, 1250, 31400,
     1000000000 + n, n / 100, ${HASH}, -1, n, ${AT}, now() + interval '180 days'
   from ${N} where n % 10 > 1`,
  `insert into chain_transactions (livemode, sender, nonce, kind, status, created, target, input,
     gas_limit, tx_hash, block_number, block_hash, finalized_at)
   select false, 0, -n, 'payment', 'finalized', ${AT}, '0x', '', 1, ${HASH}, -1, '0x', ${AT}
   from ${N} where n % 100 = 0`,
  `insert into chain_attempts (tx_hash, transaction_id, raw, max_fee_per_gas,
     max_priority_fee_per_gas, created)
   select tx_hash, id, '', 1, 1, now() from chain_transactions where nonce between -$6 and -$5`,
  `insert into chain_requests (livemode, kind, subject_id, number, payload, status, outcome,
     created, applied_at, transaction_id)
   select false, 'payment', ${id('pi')}, 1000000000 + n, '{}', 'succeeded', '{}', ${AT}, ${AT},
     (select max(id) from chain_transactions where nonce < 0)
   from ${N} where n % 10 > 1`,
  `insert into events (id, account_id, livemode, position, created, type, object_id, body)
   select ${id('evt')}, $2, false, -1000000000 + n, ${AT}, 'payment.succeeded', ${id('pay')},
     '{"id":"' || ${id('evt')} || '"}'
   from ${N}`,
  `insert into idempotency_keys (account_id, livemode, caller, key, fingerprint, method, path,
     status, resource, response_status, response_body, created, expires_at)
   select $2, false, (select id from api_keys where account_id = $2 and not livemode limit 1),
     'filled ' || n, '\\x00', 'POST', '/v1/payment_intents', 'completed', ${id('pi')}, 201, '{}',
     ${AT}, now() + interval '48 hours'
   from ${N}`,
  `insert into webhook_due (endpoint_id, event_created, event_position, id, account_id, livemode,
     event_id, event_type, created, updated, due_at)
   select $4, ${AT}, n, ${id('wdl')}, $2, false, ${id('evt')}, 'payment.succeeded', ${AT}, ${AT},
     ${AT}
   from ${N}`,
  `insert into webhook_deliveries (endpoint_id, status, event_created, event_position, id,
     account_id, livemode, event_id, event_type, created, updated, attempt)
   select $4, 'succeeded', ${AT}, n, ${id('wdl')}, $2, false, ${id('evt')}, 'payment.succeeded',
     ${AT}, ${AT}, 1
   from ${N}`,
  `insert into request_log (id, created, account_id, livemode, caller_id, operation, method, path,
     status, object_id, api_version, duration_ms, address)
   select ${id('req')}, ${AT}, $2, false, 'key', 'createPaymentIntent', 'POST',
     '/api/v1/payment_intents', 201, ${id('pi')}, '2026-09-28', 1, '127.0.0.1'
   from ${N}`,
  `insert into refunds (id, account_id, livemode, position, created, updated, payment_id, amount,
     status, source, metadata, tx_hash)
   select ${id('re')}, $2, false, -1000000000 + n, ${AT}, ${AT}, ${id('pay')}, 1,
     'succeeded', 'api',
     '{}', ${HASH}
   from ${N} where n % 10 = 5`,
  `insert into fiscal_receipts (subject_id, payment_id, account_id, livemode, terminal_id,
     receipt_number, created, attempts, signature, signed_at)
   select ${id('pay')}, ${id('pay')}, $2, false, $3, 'F-' || n, ${AT}, 1, 'signed', ${AT}
   from ${N} where n % 10 > 1`,
  // Adds items to other accounts, too, because one account may have at most 500.
  `insert into catalogue_items (id, account_id, livemode, name, unit_amount, tax_rate,
     tax_inclusive, position, created)
   select ${id('item')}, 'acct_filled' || n / 100, false, 'filled', 1, 0, true, n, ${AT}
   from ${N}`,
  `insert into mail_outbox (context, sealed, created, attempts, due_at, sent_at)
   select 'filled', '', ${AT}, 1, ${AT}, ${AT} from ${N}`,
  `insert into audit_log (chain, sequence, created, actor, action, object_id, previous_hash, hash)
   select 'filled', n, ${AT}, '{}', 'filled', ${id('pi')}, '', '' from ${N} where n % 10 = 0`,
];

/** Inserts rows into the tables that grow with sales. */
export async function fillTables(url: string, wanted: Filling): Promise<void> {
  const { accountId, terminalId, from, to } = wanted;
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ id: string }>(
    `select id from webhook_endpoints where account_id = $1 and status = 'disabled' limit 1`,
    [accountId],
  );
  const values: Readonly<Record<string, string>> = {
    $2: client.escapeLiteral(accountId),
    $3: client.escapeLiteral(terminalId),
    $4: client.escapeLiteral(only(rows, 'endpoint').id),
    $5: String(from),
    $6: String(to),
  };
  try {
    for (const text of STATEMENTS) {
      await client.query(text.replace(/\$[2-6]/g, (name) => values[name] ?? name));
    }
  } finally {
    await client.end();
  }
}
