import { columnsFrom, jsonText } from '#db/columns.ts';
import type { Sql, Tx } from '#db/database.ts';
import { checked, wholeKey } from '#db/plan-shapes.ts';
import { hasStatus } from '#settlement/chain-request-queries.ts';
import type { Hex, RequestKind } from '#settlement/chain-requests.ts';
import { backOff, OWED_UNTIL } from '#settlement/relayer/jobs/retry-owed-sales.ts';
import { MIN_LEFT_S } from '#settlement/relayer/jobs/settlement-deadlines.ts';
import type {
  OpenRequest,
  OpenTransaction,
} from '#settlement/relayer/state-machine/transaction.ts';

/** SQL: true if the ledger counts the job as done, even if a reorganization has undone it since. */
const OWED = `(applied_at is not null and status <> 'failed')`;
/** SQL: the columns of an {@link OpenRequest}. A job that must be resent gets a new deadline. */
const REQUEST = `id, kind, subject_id as "subjectId", number, payload, tries, created,
  ${OWED} as owed, settle_within as "settleWithinS",
  case when ${OWED} then now() + settle_within * interval '1 second' else deadline end as deadline`;
const IN_TIME = `(deadline is null or ${OWED}
  or deadline >= now() + ${MIN_LEFT_S} * interval '1 second')`;

/**
 * Locks waiting payments that can still settle in time, oldest first: those with an authorization
 * by their payer, or those without. Skips payments that another worker has locked.
 */
export async function claimPayments(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly authorized: boolean; readonly limit: number },
): Promise<OpenRequest[]> {
  return tx.query(
    `select ${REQUEST} from chain_requests
     where livemode = $1 and status = 'queued' and kind = 'payment' and tries = 0
       and (payload ? 'authorization') = $3 and ${IN_TIME}
     order by id limit $2 for update skip locked`,
    [filter.livemode, filter.limit, filter.authorized],
  );
}

/**
 * Returns signed payments whose deadline forbids signing them again, and whose newest bytes can
 * settle in no block later than `time`. No rows are locked, because the chain is queried next.
 */
export async function selectPerhapsDead(
  sql: Sql,
  filter: { readonly livemode: boolean; readonly time: Date; readonly limit: number },
): Promise<(OpenRequest & { readonly transactionId: bigint | null })[]> {
  // These jobs wait to be resent, or are in progress (found through their few transactions).
  return sql.query(
    `select ${REQUEST}, transaction_id as "transactionId" from (
       select * from chain_requests
       where livemode = $1 and status = 'queued' and tries > 0
       union all
       select r.* from chain_transactions t cross join lateral (
         select * from chain_requests where transaction_id = t.id offset 0) r
       where t.status = 'signed' and ${checked('t.livemode = $1')}
         and t.valid_until < $2 and r.status = 'submitted'
         -- In a block that waits for more; should it be lost unnoticed, it is looked at after all.
         and (t.included_at is null or t.included_at < now() - interval '10 minutes')
     ) signed
     -- Not a condition for an index: the one of all payments ever would seem to serve it.
     where (kind || '') = 'payment' and signed_until < $2 and not ${IN_TIME}
     order by id limit $3`,
    [filter.livemode, filter.time, filter.limit],
  );
}

/** Locks declined payments with these numbers, unless another attempt is in progress or paid. */
export async function selectDeclined(
  tx: Tx,
  filter: { readonly livemode: boolean; readonly numbers: readonly bigint[] },
): Promise<OpenRequest[]> {
  return tx.query(
    `select ${REQUEST} from chain_requests r
     where livemode = $1 and kind = 'payment' and status = 'failed' and number = any($2::bigint[])
       and applied_at is not null and not exists (
         select from chain_requests o where o.kind = 'payment' and o.subject_id = r.subject_id
           and o.status in ('queued', 'submitted', 'succeeded'))
     order by id desc for update of r`,
    [filter.livemode, filter.numbers.map(String)],
  );
}

/** Returns jobs that are sent alone, oldest first. Not locked, because they are simulated first. */
export async function selectUnbatched(
  sql: Sql,
  filter: {
    readonly livemode: boolean;
    readonly kinds: readonly RequestKind[];
    readonly except: readonly bigint[];
    readonly limit: number;
  },
): Promise<OpenRequest[]> {
  return sql.query(
    `select ${REQUEST}, ${OWED_UNTIL} as "owedUntil" from chain_requests
     where livemode = $1 and status = 'queued' and (kind <> 'payment' or tries > 0)
       and (next_attempt is null or next_attempt <= now())
       -- Not a condition for an index: the one of all first tries would seem to serve it.
       and (kind || '') = any($2) and id <> all($3::bigint[]) and ${IN_TIME}
     order by id limit $4`,
    [filter.livemode, filter.kinds, filter.except.map(String), filter.limit],
  );
}

/** Locks those of the given jobs that still wait, except jobs that another worker has locked. */
export async function lockQueued(tx: Tx, ids: readonly bigint[]): Promise<bigint[]> {
  const rows = await tx.query<{ id: bigint }>(
    `select id from chain_requests r where id = any($1) and ${hasStatus('queued')}
     order by id for update skip locked`,
    [ids.map(String)],
  );
  return rows.map((row) => row.id);
}

export interface Requeued {
  readonly requestId: bigint;
  readonly transactionId: bigint;
  /** True if the chain has refused a booked sale. The job then pauses before the next try. */
  readonly isRefused?: boolean;
}

export function jobsOf({ id, requests }: Pick<OpenTransaction, 'id' | 'requests'>): Requeued[] {
  return requests.map((request) => ({ requestId: request.id, transactionId: id }));
}

/**
 * Queues jobs again, because their nonce was used without a result for them, or a reorganization
 * has undone the result. Their transactions are then retired: see `loadOpen`.
 */
export async function requeue(tx: Tx, requests: readonly Requeued[]): Promise<void> {
  if (requests.length === 0) return;
  await tx.query(
    `with moved as (
       update chain_requests r
       set status = 'queued', transaction_id = null, outcome = null,
         ${backOff('i.refused')}
       from unnest($1::bigint[], $2::bigint[], $3::boolean[]) as i (id, transaction_id, refused)
       where r.id = any($1) and r.id = i.id and r.transaction_id = i.transaction_id
         and ${hasStatus('submitted', 'succeeded')}
       returning i.transaction_id
     )
     update chain_transactions set retired = true
     where id = any(array(select transaction_id from moved))`,
    [
      requests.map((one) => one.requestId.toString()),
      requests.map((one) => one.transactionId.toString()),
      requests.map((one) => one.isRefused === true),
    ],
  );
}

/**
 * Lets this transaction commit without waiting for the disk. If a crash undoes the commit, its data
 * are read from the chain again. Any later commit that waits makes this one durable, too.
 */
export async function commitWithoutWaiting(tx: Tx): Promise<void> {
  await tx.query(`select set_config('synchronous_commit', 'off', true)`);
}

export interface RequestOutcome {
  readonly requestId: bigint;
  readonly transactionId: bigint | null;
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
 * Stores results of this transaction's jobs; without a transaction, of jobs that never got one.
 * @returns the jobs that took the result; the others already had one.
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

/** Corrects a locked job's result if it was not applied, or the position of an applied result. */
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

/** Replaces an applied result that was wrong, and has it applied again. */
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
 * Updates refunds and withdrawals that a reorganization has moved to another transaction. Amounts
 * and times stay, because they were paid when they first settled.
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

/** True if a reorganization has undone the payment and it is being resent. */
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

export interface RefundSums {
  payment_id: string;
  /** Atoms that were refunded, according to the ledger. */
  settled: bigint;
  /** Atoms of refunds that are signed but not known to be mined. */
  under_way: bigint;
  /** True if a different sender has sent some of the refunds that are signed. */
  elsewhere: boolean;
}

/** Reads the refunds of each payment in one snapshot. Recovery rebuilds refunds without a job. */
export async function selectRefundSums(
  sql: Sql,
  filter: {
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
    [filter.livemode, filter.sender, filter.paymentIds],
  );
}
