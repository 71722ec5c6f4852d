import { columnsFrom } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import { lockName } from '#db/lock-by-name.ts';
import { checked, wholeKey } from '#db/plan-shapes.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import type { PaymentSettled } from '#settlement/contract/contract-events.ts';
import { toNumberColumn, withChainNumbers } from '#settlement/uint64-columns.ts';
import type { RangedBatch } from '../../../contracts/batch-range.ts';

/** The values that identify a payment on the chain. */
export interface PaymentPlace {
  readonly number: bigint;
  /** Also identifies the contract that settled it, even after the merchant joined a later one. */
  readonly merchantNumber: bigint;
}

/**
 * Returns the values that identify a payment on the chain; `null` if there is no such payment.
 * Values in our signed bytes take precedence over those in the chain's events.
 */
export async function selectPaymentPlace(
  sql: Sql,
  paymentId: string,
): Promise<PaymentPlace | null> {
  const rows = await sql.query<{ settlement_number: bigint; merchant_number: bigint | null }>(
    `select p.settlement_number, coalesce((r.payload ->> 'merchantNumber')::bigint,
       c.merchant_number, m.merchant_number) as merchant_number
     from payments p
     left join account_modes m on m.account_id = p.account_id and m.livemode = p.livemode
     left join lateral (
       select payload from chain_requests
       where ${wholeKey(['kind', 'subject_id'], ["'payment'", 'p.payment_intent_id'])}
         and status in ('queued', 'submitted', 'succeeded')
       limit 1) r on true
     left join chain_payments c on c.livemode = p.livemode and c.number = p.settlement_number
     where p.id = $1`,
    [paymentId],
  );
  const [row] = rows;
  if (row?.merchant_number == null) return null;
  return { number: row.settlement_number, merchantNumber: row.merchant_number };
}

/** Settled payments, according to the contracts' events. */
export const chainPayments = table(
  'chain_payments',
  {
    number: 'bigint',
    batch_number: 'bigint',
    payer: as<Hex>('text'),
    merchant_number: 'bigint',
    amount: 'bigint',
    order_id: 'text',
    fee_acquirer: 'bigint',
    fee_protocol: 'bigint',
    cashback: 'bigint',
    tx_hash: as<Hex>('text'),
    block_number: 'bigint',
    log_index: 'int',
    block_time: 'timestamptz',
  },
  { livemode: 'boolean' },
);

const IN_BATCH = chainPayments.pick(
  ['number', 'batch_number', 'payer', 'merchant_number', 'amount', 'order_id', 'tx_hash'],
  'p',
);

export type ChainPaymentRow = Row<typeof IN_BATCH>;

/** Returns all payments of a payment's batch, in the order of the Merkle tree's leaves. */
export async function selectBatchOf(
  sql: Sql,
  filter: PaymentPlace & { readonly livemode: boolean },
): Promise<ChainPaymentRow[]> {
  const rows = await sql.query<ChainPaymentRow>(
    `select ${IN_BATCH}
     from chain_payments own
     join chain_payments p on p.livemode = own.livemode and p.batch_number = own.batch_number
       -- Each contract counts its batches from 1 (contract-versions.ts).
       and p.merchant_number >> 32 = own.merchant_number >> 32
       -- A reorganization may have given the number to another batch.
       and p.tx_hash = own.tx_hash
     where own.livemode = $1 and own.number = $2 and own.merchant_number = $3
     order by p.log_index`,
    [filter.livemode, toNumberColumn(filter.number), filter.merchantNumber],
  );
  return withChainNumbers(rows);
}

/** Identifies the batches of one contract of a network. */
export interface ContractBatches {
  readonly livemode: boolean;
  readonly contractVersion: number;
}

/** Locks the batches, so that no process overwrites newer rows with older ones. */
export async function lockBatches(
  tx: Tx,
  { livemode, contractVersion }: ContractBatches,
): Promise<void> {
  await lockName(tx, `batches ${livemode} ${contractVersion}`);
}

/** Returns the number of the last batch with a row; 0 if there is none. */
export async function selectLastBatch(sql: Sql, contract: ContractBatches): Promise<bigint> {
  const rows = await sql.query<{ number: bigint }>(
    `select number from chain_batches where livemode = $1 and contract_version = $2
     order by number desc limit 1`,
    [contract.livemode, contract.contractVersion],
  );
  return rows[0]?.number ?? 0n;
}

export interface BatchBlock {
  readonly first: bigint;
  readonly last: bigint;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

/** Returns the blocks of the newest batches before the given one, newest first. */
export async function selectBatchBlocks(
  sql: Sql,
  contract: ContractBatches,
  { before, limit }: { readonly before: bigint; readonly limit: number },
): Promise<BatchBlock[]> {
  return sql.query(
    `select min(number) as first, max(number) as last, block_number as "blockNumber",
       '0x' || encode(block_hash, 'hex') as "blockHash"
     from (
       select number, block_number, block_hash from chain_batches
       where livemode = $1 and contract_version = $2 and number < $3
       order by number desc limit $4) b
     group by block_number, block_hash
     order by last desc`,
    [contract.livemode, contract.contractVersion, before, limit],
  );
}

export async function selectBatches(
  sql: Sql,
  contract: ContractBatches,
  numbers: readonly bigint[],
): Promise<Map<bigint, BatchRow>> {
  const rows = await sql.query<BatchRow>(
    `select number, block_number as "blockNumber", '0x' || encode(block_hash, 'hex') as "blockHash",
       '0x' || encode(root, 'hex') as root, '0x' || encode(node, 'hex') as node
     from chain_batches
     where livemode = $1 and contract_version = $2 and number = any($3::bigint[])`,
    [contract.livemode, contract.contractVersion, numbers.map(String)],
  );
  return new Map(rows.map((row) => [row.number, row]));
}

/** Deletes the batches from this one on, which a reorganization has changed. */
export async function deleteBatchesFrom(
  tx: Tx,
  contract: ContractBatches,
  first: bigint,
): Promise<void> {
  await tx.query(
    'delete from chain_batches where livemode = $1 and contract_version = $2 and number >= $3',
    [contract.livemode, contract.contractVersion, first],
  );
}

export interface BatchRow extends RangedBatch {
  readonly number: bigint;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

const BATCHES = columnsFrom(3, {
  number: 'bigint',
  block_number: 'bigint',
  block_hash: 'bytea',
  root: 'bytea',
  node: 'bytea',
});

const INSERT_BATCHES = `
  insert into chain_batches (livemode, contract_version, ${BATCHES.names.join(', ')})
  select $1, $2, i.* from ${BATCHES.table('i')}`;

/** Inserts at most a thousand batches: see `columnsFrom`. */
export async function insertBatches(
  tx: Tx,
  { livemode, contractVersion }: ContractBatches,
  batches: readonly BatchRow[],
): Promise<void> {
  if (batches.length === 0) return;
  const rows = batches.map((batch) => ({
    number: batch.number,
    block_number: batch.blockNumber,
    block_hash: bytesOf(batch.blockHash),
    root: bytesOf(batch.root),
    node: bytesOf(batch.node),
  }));
  await BATCHES.run(tx, INSERT_BATCHES, { before: [livemode, contractVersion], rows });
}

function bytesOf(hash: Hex): Uint8Array {
  return Buffer.from(hash.slice(2), 'hex');
}

export interface SettledInBlock {
  readonly payment: PaymentSettled;
  readonly blockTime: Date;
}

/** Rows per statement. A range that is read again may hold thousands of payments, too many. */
const MAX_AT_ONCE = 500;

const NEWEST_POSITION = `
  order by number
  on conflict (livemode, number) do update set
    batch_number = excluded.batch_number, payer = excluded.payer,
    merchant_number = excluded.merchant_number, amount = excluded.amount,
    order_id = excluded.order_id, fee_acquirer = excluded.fee_acquirer,
    fee_protocol = excluded.fee_protocol, cashback = excluded.cashback,
    tx_hash = excluded.tx_hash, block_number = excluded.block_number,
    log_index = excluded.log_index, block_time = excluded.block_time`;

/** If a reorganization has moved a payment, its newest position counts. */
export async function upsertChainPayments(
  tx: Tx,
  livemode: boolean,
  settled: readonly SettledInBlock[],
): Promise<void> {
  if (settled.length === 0) return;
  const rows = settled.map(({ payment, blockTime }) => ({
    livemode,
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
    await chainPayments.insertAll(tx, rows.slice(first, first + MAX_AT_ONCE), NEWEST_POSITION);
  }
}

export async function selectChainPayments(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly numbers: readonly bigint[] },
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
    [filter.livemode, filter.numbers.map(String)],
  );
}

/** Updates the positions of payments that differ from their events', if the sums agree. */
export async function movePayments(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly numbers: readonly bigint[] },
): Promise<void> {
  if (filter.numbers.length === 0) return;
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
    [filter.livemode, filter.numbers.map(toNumberColumn).map(String)],
  );
}
