import { PAYMENT_JOBS } from '#apis/dashboard/payments/timeline-queries.ts';
import type { Sql } from '#db/database.ts';

/** Requests of support staff name only the intent. */
export async function selectIntentOwner(
  sql: Sql,
  id: string,
): Promise<{ readonly account_id: string; readonly livemode: boolean } | undefined> {
  const rows = await sql.query<{ account_id: string; livemode: boolean }>(
    'select account_id, livemode from payment_intents where id = $1',
    [id],
  );
  return rows[0];
}

export async function selectLastLook(
  sql: Sql,
  look: {
    readonly auditLog: string;
    readonly objectId: string;
    readonly action: string;
    readonly userId: string;
  },
): Promise<Date | null> {
  const rows = await sql.query<{ created: Date }>(
    `select created from audit_log
     where chain = $1 and object_id = $2 and action = $3 and actor ->> 'user' = $4
     order by sequence desc limit 1`,
    [look.auditLog, look.objectId, look.action, look.userId],
  );
  return rows[0]?.created ?? null;
}

export interface ChainRequestRow {
  readonly kind: 'payment' | 'refund';
  readonly subject_id: string;
  readonly status: 'queued' | 'submitted' | 'succeeded' | 'failed';
  readonly tries: number;
  readonly created: Date;
  readonly applied_at: Date | null;
  readonly reason: string | null;
  readonly blocked_since: Date | null;
  readonly blocked_by: string | null;
  readonly sender: number | null;
  readonly address: string | null;
  readonly nonce: bigint | null;
  readonly transaction_status: string | null;
  readonly block_number: bigint | null;
  /** All transactions that were signed with this nonce, oldest first. */
  readonly attempts: readonly {
    readonly tx_hash: string;
    readonly cancels: boolean;
    readonly mined: boolean;
    /** Fee in wei, as decimal digits. */
    readonly max_fee_per_gas: string;
    readonly created: string;
  }[];
}

export async function selectChainRequests(
  sql: Sql,
  filter: {
    readonly intentId: string;
    readonly paymentId: string | null;
    readonly livemode: boolean;
    readonly number: bigint | null;
  },
): Promise<ChainRequestRow[]> {
  return sql.query(
    `with found as (
       ${PAYMENT_JOBS}
       union all
       select * from chain_requests where kind = 'refund' and payload ->> 'paymentId' = $4
     )
     select r.kind, r.subject_id, r.status, r.tries, r.created, r.applied_at,
       r.outcome ->> 'reason' as reason, r.blocked_since, r.blocked_by,
       t.sender, l.address, t.nonce, t.status as transaction_status, t.block_number,
       coalesce(s.attempts, '[]') as attempts
     from found r
     left join chain_transactions t on t.id = r.transaction_id
     left join relayer_senders l on l.livemode = t.livemode and l.sender = t.sender
     left join lateral (
       select json_agg(json_build_object(
           'tx_hash', a.tx_hash, 'cancels', a.cancels, 'mined', a.tx_hash = t.tx_hash is true,
           'max_fee_per_gas', a.max_fee_per_gas::text, 'created', a.created)
         order by a.created) as attempts
       from chain_attempts a where a.transaction_id = t.id
     ) s on true
     order by r.id`,
    [filter.intentId, filter.livemode, filter.number, filter.paymentId],
  );
}
