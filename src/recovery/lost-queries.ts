import type { Sql, Tx } from '#db/database.ts';
import type { BlockRange } from '#settlement/reconciliation/reconcile-queries.ts';
import { withChainNumbers } from '#settlement/uint64-columns.ts';

/** A settlement on the chain for which the ledger has no payment. */
export interface LostPaymentRow {
  readonly number: bigint;
  readonly batch_number: bigint;
  readonly payer: `0x${string}`;
  readonly merchant_number: bigint;
  readonly amount: bigint;
  readonly order_id: string;
  readonly fee_acquirer: bigint;
  readonly fee_protocol: bigint;
  readonly cashback: bigint;
  readonly tx_hash: `0x${string}`;
  readonly block_number: bigint;
  readonly log_index: number;
  readonly block_time: Date;
  /** `null` if no merchant has that number. */
  readonly account_id: string | null;
  /** The intent with that settlement number; `null` if the ledger lacks it. */
  readonly intent_id: string | null;
  /** True if the intent has this merchant, amount and order. */
  readonly intent_fits: boolean;
  /** The intent's settlement job, if one is in progress or has an unapplied result. */
  readonly request_id: bigint | null;
  /** True if the job has the payer and the amount that the chain charged. */
  readonly same_payment: boolean;
  /**
   * True if the ledger has the transaction that settled it, whose receipt is then read as usual.
   */
  readonly bytes_known: boolean;
}

/** The position on the chain after which to continue. */
export interface After {
  readonly block: bigint;
  readonly logIndex: number;
}

/**
 * Returns lost payments in a range of blocks, in the chain's order. Foreign settlements are left
 * out until operators accept them.
 */
export async function selectLostPayments(
  sql: Sql,
  portion: BlockRange & { readonly after: After; readonly limit: number },
): Promise<LostPaymentRow[]> {
  const { livemode, fromBlock, toBlock, after, limit } = portion;
  const rows = await sql.query<LostPaymentRow>(
    `select c.number, c.batch_number, c.payer, c.merchant_number, c.amount, c.order_id,
       c.fee_acquirer, c.fee_protocol, c.cashback, c.tx_hash, c.block_number, c.log_index,
       c.block_time, m.account_id, i.id as intent_id,
       -- With a tip, which is at most as much again, where one could be given.
       coalesce(i.account_id = m.account_id and i.order_id = c.order_id and c.amount >= i.amount
         and c.amount <= case when i.tipping is null then i.amount else 2 * i.amount end,
         false) as intent_fits,
       q.id as request_id, coalesce(q.same_payment, false) as same_payment,
       exists (select from chain_attempts a where a.tx_hash = c.tx_hash) as bytes_known
     from chain_payments c
     left join merchant_accounts m
       on m.livemode = c.livemode and m.merchant_number = c.merchant_number
     left join lateral (
       select id, account_id, amount, tipping, order_id from payment_intents p
       where p.livemode = c.livemode and p.settlement_number = c.number
       union all
       select p.id, p.account_id, p.amount, p.tipping, p.order_id from settlement_numbers n
       join payment_intents p on p.id = n.payment_intent_id and p.settlement_number is null
       where n.livemode = c.livemode and n.number = c.number
       limit 1) i on true
     left join lateral (
       select r.id, lower(r.payload ->> 'payer') = lower(c.payer)
           and (r.payload ->> 'amount')::bigint = c.amount as same_payment
       from chain_requests r
       where r.kind = 'payment' and r.subject_id = i.id and r.applied_at is null
         and r.status in ('queued', 'submitted', 'succeeded')
       limit 1) q on true
     where c.livemode = $1 and c.block_number between $2 and $3
       and (c.block_number, c.log_index) > ($4, $5)
       and not exists (
         select from payments p where p.livemode = c.livemode and p.settlement_number = c.number)
       and not exists (
         select from foreign_settlements f where f.livemode = c.livemode and f.kind = 'payment'
           and f.number = c.number and f.decision is distinct from 'accepted')
     order by c.block_number, c.log_index limit $6`,
    [livemode, fromBlock, toBlock, after.block, after.logIndex, limit],
  );
  return withChainNumbers(rows);
}

/** A refund or withdrawal that is paid on the chain but not in the ledger. */
export interface LostTransferRow {
  readonly kind: 'refund' | 'withdrawal';
  /** The number of the refunded payment, or of the withdrawal. */
  readonly number: bigint;
  readonly reference: Buffer | null;
  readonly merchant_number: bigint;
  readonly recipient: string;
  readonly amount: bigint;
  readonly tx_hash: `0x${string}`;
  readonly log_index: number;
  readonly block_number: bigint;
  readonly block_time: Date;
  readonly account_id: string | null;
  readonly payment_id: string | null;
  /** The unpaid refund or withdrawal in the ledger, if there is one. */
  readonly object_id: string | null;
  /** The transfer's settlement job, if one is in progress or has an unapplied result. */
  readonly request_id: bigint | null;
  /** True if the ledger has the transaction that paid it, whose receipt is then read as usual. */
  readonly bytes_known: boolean;
  /** For refunds: true if the payment has no row yet, because its result is unapplied. */
  readonly payment_under_way: boolean;
}

/**
 * Returns lost transfers in a range of blocks, in the chain's order, except withdrawals that a
 * wallet made itself.
 */
export async function selectLostTransfers(sql: Sql, range: BlockRange): Promise<LostTransferRow[]> {
  const rows = await sql.query<LostTransferRow>(
    `select t.kind, t.number, t.reference, t.merchant_number, t.recipient, t.amount, t.tx_hash,
       t.log_index, t.block_number, t.block_time, m.account_id, p.id as payment_id,
       coalesce(f.id, w.id) as object_id, q.id as request_id,
       -- Another transaction of the request, or none, does not answer it with what these bytes did.
       exists (
         select from chain_attempts a join chain_requests r on r.transaction_id = a.transaction_id
         where a.tx_hash = t.tx_hash and r.id = q.id) as bytes_known,
       t.kind = 'refund' and p.id is null and exists (
         select from payment_intents i
         join chain_requests r on r.kind = 'payment' and r.subject_id = i.id
         where i.livemode = t.livemode and i.settlement_number = t.number
           and r.applied_at is null and r.status in ('queued', 'submitted', 'succeeded')
       ) as payment_under_way
     from chain_transfers t
     left join merchant_accounts m
       on m.livemode = t.livemode and m.merchant_number = t.merchant_number
     left join payments p on t.kind = 'refund'
       and p.livemode = t.livemode and p.settlement_number = t.number
       and p.account_id = m.account_id
     left join refunds f on t.kind = 'refund'
       and f.livemode = t.livemode and f.reference = t.reference
     left join withdrawals w on t.kind = 'withdrawal'
       and w.livemode = t.livemode and w.number = t.number
     left join lateral (
       select r.id from chain_requests r
       where r.kind = t.kind and r.subject_id = coalesce(f.id, w.id) and r.applied_at is null
         and r.status in ('queued', 'submitted', 'succeeded')
       limit 1) q on true
     where t.livemode = $1 and t.block_number between $2 and $3
       and (t.kind = 'refund' or t.number <> 0)
       and coalesce(f.status, w.status, 'unknown') <> 'succeeded'
       -- Made by an earlier release, without a reference or number of its own.
       and not exists (select from refunds g where g.payment_id = p.id and g.tx_hash = t.tx_hash)
       and not exists (
         select from withdrawals g where t.kind = 'withdrawal' and g.account_id = m.account_id
           and g.livemode = t.livemode and g.tx_hash = t.tx_hash)
       and not exists (
         select from foreign_settlements f where f.livemode = t.livemode and f.kind = t.kind
           and f.tx_hash = t.tx_hash and f.log_index = t.log_index
           and f.decision is distinct from 'accepted')
     order by t.block_number, t.log_index`,
    [range.livemode, range.fromBlock, range.toBlock],
  );
  return withChainNumbers(rows);
}

/** Counts the range's refunds whose payment has an unapplied result. */
export async function countAwaitingPayment(sql: Sql, range: BlockRange): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `select count(*)::int as count from chain_transfers t
     join payment_intents i on i.livemode = t.livemode and i.settlement_number = t.number
     join chain_requests r on r.kind = 'payment' and r.subject_id = i.id
     where t.livemode = $1 and t.block_number between $2 and $3 and t.kind = 'refund'
       and r.status = 'succeeded' and r.applied_at is null
       and not exists (
         select from payments p
         where p.livemode = t.livemode and p.settlement_number = t.number)`,
    [range.livemode, range.fromBlock, range.toBlock],
  );
  return rows[0]?.count ?? 0;
}

/** Stores the result of a job that a lost transaction carried out. The job's domain applies it. */
export async function answerRequest(
  tx: Tx,
  answer: { readonly requestId: bigint; readonly outcome: unknown },
): Promise<boolean> {
  const rows = await tx.query(
    `update chain_requests set status = 'succeeded', outcome = $2::text::jsonb
     where id = $1 and status in ('queued', 'submitted') returning id`,
    [answer.requestId, JSON.stringify(answer.outcome)],
  );
  return rows.length > 0;
}

/** SQL: the position on the chain, in the form of a job's result. */
const PLACE = `'txHash', c.tx_hash, 'blockNumber', c.block_number::text, 'logIndex', c.log_index,
  'blockTime', to_char(c.block_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/**
 * Restores the settlement jobs of recovered objects, as done and applied, without a transaction of
 * ours. If a reorganization undoes a job, it is sent again (`watchAnswered`).
 */
export async function insertAnswered(
  tx: Tx,
  range: BlockRange & { readonly chainId: number },
  now: Date,
): Promise<void> {
  await tx.query(
    `with paid as (
       select 'payment' as kind, p.payment_intent_id as subject_id, c.number,
         jsonb_build_object('merchantNumber', c.merchant_number::text, 'payer', c.payer,
           'amount', c.amount::text, 'orderId', c.order_id) as payload,
         jsonb_build_object(${PLACE}, 'settlementNumber', c.number::text,
           'batchNumber', c.batch_number::text, 'feeAcquirer', c.fee_acquirer::text,
           'feeProtocol', c.fee_protocol::text, 'cashback', c.cashback::text,
           'chainId', $4::int) as facts
       from chain_payments c
       join payments p on p.livemode = c.livemode and p.settlement_number = c.number
       where c.livemode = $1 and c.block_number between $2 and $3 and p.recovered
       union all
       select 'refund', f.id, null,
         jsonb_build_object('paymentId', f.payment_id, 'paymentNumber', c.number::text,
           'amount', c.amount::text, 'reference', '0x' || encode(c.reference, 'hex')),
         jsonb_build_object(${PLACE})
       from chain_transfers c
       join refunds f on c.kind = 'refund' and f.livemode = c.livemode
         and f.reference = c.reference
       where c.livemode = $1 and c.block_number between $2 and $3 and f.recovered
       union all
       select 'withdrawal', w.id, c.number,
         jsonb_build_object('merchantNumber', c.merchant_number::text, 'wallet', c.recipient,
           'amount', c.amount::text),
         jsonb_build_object(${PLACE})
       from chain_transfers c
       join withdrawals w on c.kind = 'withdrawal' and w.livemode = c.livemode
         and w.number = c.number
       where c.livemode = $1 and c.block_number between $2 and $3 and w.recovered
     )
     insert into chain_requests
       (livemode, kind, subject_id, number, payload, status, outcome, created, applied_at)
     select $1, kind, subject_id, number, payload, 'succeeded',
       jsonb_build_object('succeeded', true, 'facts', facts), $5, $5
     from paid
     where not exists (
       select from chain_requests r where r.kind = paid.kind and r.subject_id = paid.subject_id
         and r.status in ('queued', 'submitted', 'succeeded'))`,
    [range.livemode, range.fromBlock, range.toBlock, range.chainId, now],
  );
}

/**
 * Ends attempts to pay intents that the chain has settled differently. Transactions already sent
 * will fail, because the settlement number was used.
 */
export async function endAttempts(
  tx: Tx,
  ending: { readonly intentIds: readonly string[]; readonly outcome: unknown; readonly now: Date },
): Promise<void> {
  await tx.query(
    `update chain_requests set status = 'failed', outcome = coalesce(outcome, $2::text::jsonb),
       applied_at = $3
     where id in (
       select id from chain_requests
       where kind = 'payment' and subject_id = any($1) and status in ('queued', 'submitted')
         and applied_at is null
       union all
       select id from chain_requests
       where kind = 'payment' and subject_id = any($1)
         and status in ('succeeded', 'failed') and applied_at is null and status = 'failed')`,
    [ending.intentIds, JSON.stringify(ending.outcome), ending.now],
  );
}

/**
 * Deletes cached statistics of all days and hours that may have changed; they are computed again on
 * request. Days are UTC; west of Greenwich, the same moment belongs to the previous day.
 */
export async function forgetFigures(tx: Tx, livemode: boolean): Promise<void> {
  await tx.query(
    `with hours as (
       delete from statistics_hours h using network_recoveries r
       where r.livemode = $1 and h.livemode = $1 and h.hour >= r.first_day - 1
     )
     delete from statistics_days d using network_recoveries r
     where r.livemode = $1 and d.livemode = $1 and d.day >= r.first_day - 1`,
    [livemode],
  );
}
