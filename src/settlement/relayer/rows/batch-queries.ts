import { columnsFrom } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import type { Hex } from '#settlement/requests.ts';
import type { RangedBatch } from '../../../../contracts/batch-range.ts';

/** One contract of a network. */
export interface ContractBatches {
  readonly livemode: boolean;
  readonly edition: number;
}

/** So that two processes which read the chain at once replace no newer rows with older ones. */
export async function lockBatches(tx: Tx, { livemode, edition }: ContractBatches): Promise<void> {
  const name = `batches ${livemode} ${edition}`;
  await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
}

/** The last one of which the rows know; 0: none. */
export async function selectLastBatch(sql: Sql, contract: ContractBatches): Promise<bigint> {
  const rows = await sql.query<{ number: bigint }>(
    `select number from chain_batches where livemode = $1 and edition = $2
     order by number desc limit 1`,
    [contract.livemode, contract.edition],
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
       where livemode = $1 and edition = $2 and number < $3
       order by number desc limit $4) b
     group by block_number, block_hash
     order by last desc`,
    [contract.livemode, contract.edition, before, limit],
  );
}

/** The blocks in which the rows have these batches, by number. */
export async function selectBlockHashes(
  sql: Sql,
  contract: ContractBatches,
  { first, last }: { readonly first: bigint; readonly last: bigint },
): Promise<Map<bigint, Hex>> {
  const rows = await sql.query<{ number: bigint; hash: Hex }>(
    `select number, '0x' || encode(block_hash, 'hex') as hash from chain_batches
     where livemode = $1 and edition = $2 and number between $3 and $4`,
    [contract.livemode, contract.edition, first, last],
  );
  return new Map(rows.map(({ number, hash }) => [number, hash]));
}

/** What is known of these batches, by number. */
export async function selectBatches(
  sql: Sql,
  contract: ContractBatches,
  numbers: readonly bigint[],
): Promise<Map<bigint, RangedBatch>> {
  const rows = await sql.query<RangedBatch & { number: bigint }>(
    `select number, '0x' || encode(root, 'hex') as root, '0x' || encode(node, 'hex') as node
     from chain_batches
     where livemode = $1 and edition = $2 and number = any($3::bigint[])`,
    [contract.livemode, contract.edition, numbers.map(String)],
  );
  return new Map(rows.map(({ number, root, node }) => [number, { root, node }]));
}

/** From this one on: a reorganization has changed them, and with them all nodes above. */
export async function deleteBatchesFrom(
  tx: Tx,
  contract: ContractBatches,
  first: bigint,
): Promise<void> {
  await tx.query(
    'delete from chain_batches where livemode = $1 and edition = $2 and number >= $3',
    [contract.livemode, contract.edition, first],
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
  insert into chain_batches (livemode, edition, ${BATCHES.names.join(', ')})
  select $1, $2, i.* from ${BATCHES.table('i')}`;

export async function insertBatches(
  tx: Tx,
  { livemode, edition }: ContractBatches,
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
    await BATCHES.run(tx, INSERT_BATCHES, { before: [livemode, edition], rows: some });
  }
}

function bytesOf(hash: Hex): Uint8Array {
  return Buffer.from(hash.slice(2), 'hex');
}
