import type { Sql, Tx } from '#db/database.ts';
import { checked } from '#db/plan-shapes.ts';
import type { Hex } from '#settlement/requests.ts';

/** Transactions from this nonce on count as not mined: the chain has gone back to before them. */
export async function reopenFromNonce(
  tx: Tx,
  which: { readonly livemode: boolean; readonly lane: number; readonly nonce: bigint },
): Promise<number> {
  const rows = await tx.query(
    `update chain_transactions
     set status = 'signed', tx_hash = null, block_number = null, block_hash = null,
       finalized_at = null
     where livemode = $1 and lane = $2 and nonce >= $3 and status in ('mined', 'finalized')
     returning id`,
    [which.livemode, which.lane, which.nonce],
  );
  return rows.length;
}

/** The same for the transactions of blocks that are not in the chain any more. */
export async function reopenBlocks(
  tx: Tx,
  which: {
    readonly livemode: boolean;
    readonly lanes: readonly number[];
    readonly blockHashes: readonly Hex[];
  },
): Promise<{ readonly lane: number }[]> {
  return tx.query(
    `update chain_transactions
     set status = 'signed', tx_hash = null, block_number = null, block_hash = null
     where status = 'mined' and block_hash = any($3)
       and ${checked('livemode = $1 and lane = any($2::int[])')}
     returning lane`,
    [which.livemode, which.lanes, which.blockHashes],
  );
}

export async function selectNonces(
  tx: Tx,
  wanted: {
    readonly livemode: boolean;
    readonly lane: number;
    readonly from: bigint;
    readonly to: bigint;
  },
): Promise<bigint[]> {
  const rows = await tx.query<{ nonce: bigint }>(
    `select nonce from chain_transactions
     where livemode = $1 and lane = $2 and nonce >= $3 and nonce < $4`,
    [wanted.livemode, wanted.lane, wanted.from, wanted.to],
  );
  return rows.map((row) => row.nonce);
}

export async function markForeign(tx: Tx, id: bigint): Promise<void> {
  await tx.query(`update chain_transactions set status = 'foreign' where id = $1`, [id]);
}

export interface MinedBlockRow {
  block_number: bigint;
  block_hash: Hex;
}

/**
 * Blocks that hold transactions of ours and are not marked final: the oldest up to `final`, to be
 * marked, and the newest, which a reorganization could have taken.
 */
export async function selectMinedBlocks(
  sql: Sql,
  wanted: {
    readonly livemode: boolean;
    readonly lanes: readonly number[];
    readonly final: bigint;
    readonly limit: number;
  },
): Promise<MinedBlockRow[]> {
  return sql.query(
    `with mined as (
       select distinct block_number, block_hash from chain_transactions
       where status = 'mined' and ${checked('livemode = $1 and lane = any($2::int[])')}
     )
     (select * from mined where block_number <= $3 order by block_number limit $4)
     union
     (select * from mined order by block_number desc limit $4)
     order by block_number`,
    [wanted.livemode, wanted.lanes, wanted.final, wanted.limit],
  );
}

export interface AnsweredRow {
  /** The requests that it has answered. */
  ids: bigint[];
  tx_hash: Hex;
  block_number: bigint;
}

/**
 * Transactions in blocks above this one that have answered requests, are applied, and are none of
 * ours. There are no more than so few blocks can hold.
 */
export async function selectAnswered(
  sql: Sql,
  wanted: { readonly livemode: boolean; readonly after: bigint },
): Promise<AnsweredRow[]> {
  return sql.query(
    `select array_agg(id) as ids, outcome #>> '{facts,txHash}' as tx_hash,
       (outcome #>> '{facts,blockNumber}')::bigint as block_number
     from chain_requests
     where livemode = $1 and transaction_id is null and status = 'succeeded'
       and (outcome #>> '{facts,blockNumber}')::bigint > $2
       and applied_at is not null and kind in ('payment', 'refund', 'withdrawal')
     group by 2, 3`,
    [wanted.livemode, wanted.after],
  );
}

/** They are owed, and go out alone; not what another worker has found elsewhere meanwhile. */
export async function requeueAnswered(sql: Sql, { ids, tx_hash, block_number }: AnsweredRow) {
  await sql.query(
    `update chain_requests set status = 'queued', outcome = null, tries = tries + 1
     where id = any($1::bigint[]) and transaction_id is null and status = 'succeeded'
       and outcome #>> '{facts,txHash}' = $2 and outcome #>> '{facts,blockNumber}' = $3`,
    [ids.map(String), tx_hash, block_number.toString()],
  );
}

export async function markIncluded(
  sql: Sql,
  change: { readonly id: bigint; readonly waitsFor: string },
  now: Date,
): Promise<void> {
  await sql.query(
    `update chain_transactions set included_at = $3, waits_for = $2
     where id = $1 and status = 'signed'`,
    [change.id, change.waitsFor, now],
  );
}

export async function clearIncluded(sql: Sql, ids: readonly bigint[]): Promise<void> {
  await sql.query(
    `update chain_transactions set included_at = null, waits_for = null
     where id = any($1::bigint[]) and status = 'signed'`,
    [ids.map(String)],
  );
}

export async function markFinalized(
  sql: Sql,
  change: { readonly livemode: boolean; readonly blockHashes: readonly Hex[] },
  now: Date,
): Promise<void> {
  await sql.query(
    `update chain_transactions set status = 'finalized', finalized_at = $3
     where status = 'mined' and block_hash = any($2) and ${checked('livemode = $1')}`,
    [change.livemode, change.blockHashes, now],
  );
}
