import type { Sql, Tx } from '#db/database.ts';
import type { AllSet, Row } from '#db/table.ts';
import { chainRequests } from '#settlement/chain-request-queries.ts';
import type { Failure } from '#settlement/chain-requests.ts';

const TRANSFER_BLOCKED: Failure = { succeeded: false, reason: 'transfer_blocked', txHash: null };

const BLOCKED = chainRequests.pick(['blocked_since', 'blocked_by']);

/** The time since which a job is blocked, and the reason. `blocked_by` is a text for users. */
export type BlockedRow = AllSet<Row<typeof BLOCKED>>;

/** Stores why the contract currently refuses a job, which remains queued. */
export async function markBlocked(
  sql: Sql,
  request: { readonly id: bigint; readonly by: string },
  now: Date,
): Promise<void> {
  await sql.query(
    `update chain_requests set blocked_since = coalesce(blocked_since, $3), blocked_by = $2
     where id = $1 and status = 'queued'`,
    [request.id, request.by, now],
  );
}

/** Returns why and since when a refund or withdrawal is blocked; `undefined` if it is not. */
export async function selectBlocked(
  sql: Sql,
  kind: 'refund' | 'withdrawal',
  subjectId: string,
): Promise<BlockedRow | undefined> {
  const rows = await sql.query<BlockedRow>(
    `select ${BLOCKED} from chain_requests
     where kind = $1 and subject_id = $2 and status = 'queued' and blocked_since is not null`,
    [kind, subjectId],
  );
  return rows[0];
}

/**
 * Fails a blocked refund, unless one of its signed transactions may still be mined, or it was paid
 * once and a reorganization undid that.
 * @returns true if the refund was failed.
 */
export async function endBlockedRefund(tx: Tx, refundId: string): Promise<boolean> {
  const rows = await tx.query(
    `update chain_requests set status = 'failed', outcome = $2::text::jsonb
     where kind = 'refund' and subject_id = $1 and status = 'queued'
       and blocked_since is not null and applied_at is null
     returning id`,
    [refundId, JSON.stringify(TRANSFER_BLOCKED)],
  );
  return rows.length === 1;
}
