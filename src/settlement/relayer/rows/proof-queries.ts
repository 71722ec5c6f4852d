import { columnsFrom } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import { checked, wholeKey } from '#db/plan-shapes.ts';
import { toNumberColumn, withChainNumbers } from '#settlement/number-columns.ts';
import type { Hex } from '#settlement/requests.ts';
import type { RangedBatch } from '../../../../contracts/batch-range.ts';

/** What the chain knows a payment by. */
export interface PaymentPlace {
  readonly number: bigint;
  /** It says which contract settled the payment, also after the merchant has moved to another. */
  readonly merchantNumber: bigint;
}

/** null: there is no such payment. What we signed outweighs what the chain was seen to hold. */
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

/** Whether a reorganization has undone the payment, and it is being sent again. */
export async function isBeingPaidAgain(sql: Sql, paymentId: string): Promise<boolean> {
  const rows = await sql.query(
    `select from payments p
     cross join lateral (
       select status, transaction_id from chain_requests
       where ${wholeKey(['kind', 'subject_id'], ["'payment'", 'p.payment_intent_id'])}
         and status in ('queued', 'submitted', 'succeeded')
       limit 1) r
     left join chain_transactions t on t.id = r.transaction_id
     where p.id = $1 and (r.status <> 'succeeded' or t.status = 'signed')`,
    [paymentId],
  );
  return rows.length > 0;
}

export interface ChainPaymentRow {
  number: bigint;
  batch_number: bigint;
  payer: Hex;
  merchant_number: bigint;
  amount: bigint;
  order_id: string;
  tx_hash: Hex;
}

/** All payments that were settled in one batch with this one, in the order of the tree's leaves. */
export async function selectBatchOf(
  sql: Sql,
  wanted: PaymentPlace & { readonly livemode: boolean },
): Promise<ChainPaymentRow[]> {
  const rows = await sql.query<ChainPaymentRow>(
    `select p.number, p.batch_number, p.payer, p.merchant_number, p.amount, p.order_id, p.tx_hash
     from chain_payments own
     join chain_payments p on p.livemode = own.livemode and p.batch_number = own.batch_number
       -- Each contract counts its batches from 1 (contract-versions.ts).
       and p.merchant_number >> 32 = own.merchant_number >> 32
       -- A reorganization may have given the number to another batch.
       and p.tx_hash = own.tx_hash
     where own.livemode = $1 and own.number = $2 and own.merchant_number = $3
     order by p.log_index`,
    [wanted.livemode, toNumberColumn(wanted.number), wanted.merchantNumber],
  );
  return withChainNumbers(rows);
}

export interface RefundSums {
  payment_id: string;
  /** Atoms that were refunded, as far as the ledger knows. */
  settled: bigint;
  /** Atoms of refunds that are signed and not known to be mined. */
  under_way: bigint;
  /** Whether some of those are on another sender. */
  elsewhere: boolean;
}

/** What is refunded of each payment, in one snapshot. Refunds without a request were recovered. */
export async function selectRefundSums(
  sql: Sql,
  wanted: {
    readonly livemode: boolean;
    readonly sender: number;
    readonly paymentIds: readonly string[];
  },
): Promise<RefundSums[]> {
  return sql.query(
    `with asked as (
       select distinct id from unnest($3::text[]) as i (id)
     ), known as (
       select a.id, (r.payload ->> 'amount')::bigint as amount,
         r.status = 'succeeded' and t.status is distinct from 'signed' as settled, t.sender
       from asked a
       cross join lateral (
         select * from chain_requests
         where kind = 'refund' and payload ->> 'paymentId' = a.id
           and ${checked("status in ('submitted', 'succeeded') and livemode = $1")}
         order by payload ->> 'paymentId' offset 0) r
       left join chain_transactions t on t.id = r.transaction_id
       union all
       select a.id, f.amount, true, null
       from asked a
       cross join lateral (
         select id, amount from refunds
         where payment_id = a.id and ${checked("livemode = $1 and status = 'succeeded'")}
         offset 0) f
       where not exists (
         select from chain_requests r
         where r.kind = 'refund' and r.payload ->> 'paymentId' = a.id and r.subject_id = f.id
         offset 0)
     )
     select a.id as payment_id,
       coalesce(sum(k.amount) filter (where k.settled), 0)::bigint as settled,
       coalesce(sum(k.amount) filter (where not k.settled), 0)::bigint as under_way,
       coalesce(bool_or(k.sender <> $2) filter (where not k.settled), false) as elsewhere
     from asked a left join known k on k.id = a.id
     group by a.id`,
    [wanted.livemode, wanted.sender, wanted.paymentIds],
  );
}

/** One contract of a network. */
export interface ContractBatches {
  readonly livemode: boolean;
  readonly contractVersion: number;
}

/** So that two processes which read the chain at once replace no newer rows with older ones. */
export async function lockBatches(
  tx: Tx,
  { livemode, contractVersion }: ContractBatches,
): Promise<void> {
  const name = `batches ${livemode} ${contractVersion}`;
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
}

/** The last one of which the rows know; 0: none. */
export async function selectLastBatch(sql: Sql, contract: ContractBatches): Promise<bigint> {
  const rows = await sql.query<{ number: bigint }>(
    `select number from chain_batches where livemode = $1 and contract_version = $2
     order by number desc limit 1`,
    [contract.livemode, contract.contractVersion],
  );
  return rows[0]?.number ?? 0n;
}

export interface BatchBlock {
  /** Its batches. */
  readonly first: bigint;
  readonly last: bigint;
  readonly blockNumber: bigint;
  readonly blockHash: Hex;
}

/** The blocks of the newest batches before this one, newest first. */
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

/** What is known of these batches, by number. */
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

/** From this one on: a reorganization has changed them, and with them all nodes above. */
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

/** Too many for the columns of one statement otherwise. */
const MAX_AT_ONCE = 1_000;

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

export async function insertBatches(
  tx: Tx,
  { livemode, contractVersion }: ContractBatches,
  batches: readonly BatchRow[],
): Promise<void> {
  const rows = batches.map((batch) => ({
    number: batch.number,
    block_number: batch.blockNumber,
    block_hash: bytesOf(batch.blockHash),
    root: bytesOf(batch.root),
    node: bytesOf(batch.node),
  }));
  for (let first = 0; first < rows.length; first += MAX_AT_ONCE) {
    const some = rows.slice(first, first + MAX_AT_ONCE);
    await BATCHES.run(tx, INSERT_BATCHES, { before: [livemode, contractVersion], rows: some });
  }
}

function bytesOf(hash: Hex): Uint8Array {
  return Buffer.from(hash.slice(2), 'hex');
}
