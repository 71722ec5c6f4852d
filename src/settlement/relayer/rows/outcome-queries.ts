import { columnsFrom, jsonText } from '#db/columns.ts';
import type { Tx } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import type { PaymentSettled } from '#settlement/contract/contract-events.ts';
import { toNumberColumn } from '#settlement/number-columns.ts';
import { hasStatus } from '#settlement/request-queries.ts';
import type { Hex, RequestKind } from '#settlement/requests.ts';

/**
 * This transaction's commit need not reach the disk before anybody goes on: after a crash of the
 * database it is read from the chain again. Later commits, which do wait, carry it along.
 */
export async function commitWithoutWaiting(tx: Tx): Promise<void> {
  await tx.query(`select set_config('synchronous_commit', 'off', true)`);
}

export interface RequestOutcome {
  readonly requestId: bigint;
  readonly transactionId: bigint | null;
  /** JSON of the `result` of requests.ts. */
  readonly result: { readonly succeeded: boolean };
}

const OUTCOMES = columnsFrom(1, {
  id: 'bigint',
  transaction_id: 'bigint',
  status: 'text',
  outcome: 'jsonb',
});

const WRITE_OUTCOMES = `
  update chain_requests r set status = i.status, outcome = i.outcome,
    owed_since = null, next_attempt = null
  from ${OUTCOMES.table('i')}
  where r.id = any(${OUTCOMES.all('id')}) and r.id = i.id and ${hasStatus('queued', 'submitted')}
    and r.transaction_id is not distinct from i.transaction_id
  returning r.id`;

/**
 * Writes outcomes of requests that this transaction carries (or, with no transaction, that never
 * got one). @returns the requests that took it; the others had an outcome already.
 */
export async function writeOutcomes(
  tx: Tx,
  outcomes: readonly RequestOutcome[],
): Promise<bigint[]> {
  if (outcomes.length === 0) return [];
  const rows = outcomes.map((one) => ({
    id: one.requestId,
    transaction_id: one.transactionId,
    status: one.result.succeeded ? 'succeeded' : 'failed',
    outcome: jsonText(one.result),
  }));
  const written = await OUTCOMES.run<{ id: bigint }>(tx, WRITE_OUTCOMES, { rows });
  return written.map((row) => row.id);
}

export interface KnownOutcomeRow {
  id: bigint;
  kind: RequestKind;
  transaction_id: bigint | null;
  subject_id: string;
  status: string;
  outcome: unknown;
  applied: boolean;
}

export async function selectKnownOutcomes(
  tx: Tx,
  ids: readonly bigint[],
): Promise<KnownOutcomeRow[]> {
  return tx.query(
    `select id, kind, transaction_id, subject_id, status, outcome,
       applied_at is not null as applied
     from chain_requests where id = any($1) for update`,
    [ids.map(String)],
  );
}

/**
 * Corrects an outcome that nobody has applied yet, or the place of one that was applied. The row is
 * locked.
 */
export async function replaceOutcome(
  tx: Tx,
  outcome: { readonly requestId: bigint; readonly result: { readonly succeeded: boolean } },
): Promise<void> {
  await tx.query(
    `update chain_requests set status = $2, outcome = $3::text::jsonb
     where id = $1 and (applied_at is null or status = $2) and status in ('succeeded', 'failed')`,
    [
      outcome.requestId,
      outcome.result.succeeded ? 'succeeded' : 'failed',
      JSON.stringify(outcome.result),
    ],
  );
}

/** The block's time travels with the event. */
export interface SettledInBlock {
  readonly payment: PaymentSettled;
  readonly blockTime: Date;
}

/** A range that is read again may hold thousands: too many for the columns of one statement. */
const MAX_AT_ONCE = 500;

const SETTLED = columnsFrom(2, {
  number: 'bigint',
  batch_number: 'bigint',
  payer: 'text',
  merchant_number: 'bigint',
  amount: 'bigint',
  order_id: 'text',
  fee_acquirer: 'bigint',
  fee_protocol: 'bigint',
  cashback: 'bigint',
  tx_hash: 'text',
  block_number: 'bigint',
  log_index: 'int',
  block_time: 'timestamptz',
});

const UPSERT_CHAIN_PAYMENTS = `
  insert into chain_payments (livemode, ${SETTLED.names.join(', ')})
  select $1, i.* from ${SETTLED.table('i')}
  order by i.number
  on conflict (livemode, number) do update set
    batch_number = excluded.batch_number, payer = excluded.payer,
    merchant_number = excluded.merchant_number, amount = excluded.amount,
    order_id = excluded.order_id, fee_acquirer = excluded.fee_acquirer,
    fee_protocol = excluded.fee_protocol, cashback = excluded.cashback,
    tx_hash = excluded.tx_hash, block_number = excluded.block_number,
    log_index = excluded.log_index, block_time = excluded.block_time`;

/** What the chain has settled. A reorganization may have moved it: the newest place counts. */
export async function upsertChainPayments(
  tx: Tx,
  livemode: boolean,
  settled: readonly SettledInBlock[],
): Promise<void> {
  if (settled.length === 0) return;
  const rows = settled.map(({ payment, blockTime }) => ({
    number: toNumberColumn(payment.number),
    batch_number: payment.batchNumber,
    payer: payment.payer,
    merchant_number: payment.merchantNumber,
    amount: payment.amount,
    order_id: payment.orderId,
    fee_acquirer: payment.feeAcquirer,
    fee_protocol: payment.feeProtocol,
    cashback: payment.cashback,
    tx_hash: payment.txHash,
    block_number: payment.blockNumber,
    log_index: payment.logIndex,
    block_time: blockTime,
  }));
  for (let first = 0; first < rows.length; first += MAX_AT_ONCE) {
    const some = rows.slice(first, first + MAX_AT_ONCE);
    await SETTLED.run(tx, UPSERT_CHAIN_PAYMENTS, { before: [livemode], rows: some });
  }
}

/** What the chain has settled under these numbers, as its events said. */
export async function selectChainPayments(
  tx: Tx,
  wanted: { readonly livemode: boolean; readonly numbers: readonly bigint[] },
): Promise<(PaymentSettled & { readonly blockTime: Date })[]> {
  return tx.query(
    `select 'PaymentSettled' as event, number, batch_number as "batchNumber", payer,
       merchant_number as "merchantNumber", amount, order_id as "orderId",
       fee_acquirer as "feeAcquirer", fee_protocol as "feeProtocol", cashback,
       tx_hash as "txHash", block_number as "blockNumber", log_index as "logIndex",
       block_time as "blockTime",
       -- Neither kept nor part of a result.
       '0x' as "blockHash"
     from chain_payments where livemode = $1 and number = any($2::bigint[])`,
    [wanted.livemode, wanted.numbers.map(String)],
  );
}

/** What everyone was told has turned out to be wrong: the outcome has to be applied once more. */
export async function reviveDeclined(tx: Tx, id: bigint, outcome: unknown): Promise<void> {
  await tx.query(
    `update chain_requests set status = 'succeeded', outcome = $2::text::jsonb, applied_at = null
     where id = $1 and status = 'failed'`,
    [id, JSON.stringify(outcome)],
  );
}

// A reorganization can put what was booked into another transaction, block or place. The ledger's
// rows then name where the chain has it now. Nothing else of them changes: neither money nor
// `settled_at`, because the customer has paid when it was first settled.

/** Payments whose place differs from that of their event, with the same money. */
export async function movePayments(
  tx: Tx,
  wanted: { readonly livemode: boolean; readonly numbers: readonly bigint[] },
): Promise<void> {
  if (wanted.numbers.length === 0) return;
  await tx.query(
    `with moved as (
       update payments p set tx_hash = c.tx_hash, block_number = c.block_number,
         log_index = c.log_index, batch_number = c.batch_number
       from chain_payments c
       where c.livemode = $1 and c.number = any($2::bigint[])
         and p.livemode = $1 and p.settlement_number = any($2::bigint[])
         and p.settlement_number = c.number
         and p.amount = c.amount and lower(p.payer_address) = lower(c.payer)
         and (p.tx_hash, p.block_number, p.log_index) is distinct from
           (c.tx_hash, c.block_number, c.log_index)
       returning p.payment_intent_id, p.tx_hash
     )
     update payment_intents i set tx_hash = m.tx_hash from moved m
     where i.id = any(array(select payment_intent_id from moved)) and i.id = m.payment_intent_id
       and ${checked("i.status = 'succeeded'")}`,
    [wanted.livemode, wanted.numbers.map(toNumberColumn).map(String)],
  );
}

export interface MovedTransfer {
  /** The id of the refund or withdrawal. */
  readonly id: string;
  readonly txHash: Hex;
}

/** Refunds and withdrawals that were paid, and are paid in another transaction now. */
export async function moveTransfers(tx: Tx, moved: readonly MovedTransfer[]): Promise<void> {
  if (moved.length === 0) return;
  await tx.query(
    `with moved as (
       select * from unnest($1::text[], $2::text[]) as i (id, tx_hash)
     ), refunded as (
       update refunds f set tx_hash = m.tx_hash from moved m
       where f.id = any($1) and f.id = m.id and f.status = 'succeeded'
     )
     update withdrawals w set tx_hash = m.tx_hash from moved m
     where w.id = any($1) and w.id = m.id and w.status = 'succeeded'`,
    [moved.map(({ id }) => id), moved.map(({ txHash }) => txHash)],
  );
}
