import { columnsFrom, jsonText } from '#db/columns.ts';
import type { Tx } from '#db/database.ts';
import { hasStatus } from '#settlement/request-queries.ts';
import type { Hex } from '#settlement/requests.ts';

/**
 * Lets this transaction commit without waiting for the disk. If the database crashes, its contents
 * are read from the chain again. Later commits that wait make it durable, too.
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
  transaction_id: 'bigint?',
  status: 'text',
  outcome: 'jsonb?',
});

const WRITE_OUTCOMES = `
  update chain_requests r set status = i.status, outcome = i.outcome,
    owed_since = null, next_attempt = null
  from ${OUTCOMES.table('i')}
  where r.id = any(${OUTCOMES.all('id')}) and r.id = i.id and ${hasStatus('queued', 'submitted')}
    and r.transaction_id is not distinct from i.transaction_id
  returning r.id`;

/**
 * Stores results of jobs carried by this transaction (or, without one, of jobs that never got one).
 * @returns the jobs that took it; the others already had a result.
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
  transaction_id: bigint | null;
  status: string;
  outcome: unknown;
  applied: boolean;
}

export async function selectKnownOutcomes(
  tx: Tx,
  ids: readonly bigint[],
): Promise<KnownOutcomeRow[]> {
  return tx.query(
    `select id, transaction_id, status, outcome, applied_at is not null as applied
     from chain_requests where id = any($1) for update`,
    [ids.map(String)],
  );
}

/** Corrects a result that was not applied, or the place of one that was. The row is locked. */
export async function replaceOutcome(
  tx: Tx,
  { requestId, result }: Pick<RequestOutcome, 'requestId' | 'result'>,
): Promise<void> {
  await tx.query(
    `update chain_requests set status = $2, outcome = $3::text::jsonb
     where id = $1 and (applied_at is null or status = $2) and status in ('succeeded', 'failed')`,
    [requestId, result.succeeded ? 'succeeded' : 'failed', JSON.stringify(result)],
  );
}

/** Replaces an announced result that was wrong: it must be applied again. */
export async function reviveDeclined(tx: Tx, id: bigint, outcome: unknown): Promise<void> {
  await tx.query(
    `update chain_requests set status = 'succeeded', outcome = $2::text::jsonb, applied_at = null
     where id = $1 and status = 'failed'`,
    [id, JSON.stringify(outcome)],
  );
}

export interface MovedTransfer {
  /** The id of the refund or withdrawal. */
  readonly id: string;
  readonly txHash: Hex;
}

/**
 * Updates refunds and withdrawals that a reorganization has put into another transaction. Neither
 * money nor times change, because it was paid when it first settled.
 */
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
