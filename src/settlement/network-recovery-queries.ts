import { only } from '#core/assert.ts';
import type { Sql, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import { IS_DIFFERENCE } from '#settlement/foreign-settlement-queries.ts';

/** The topic of wake-ups when a recovery begins or ends. The wake-up's key is the network. */
export const RECOVERY_TOPIC = 'network-recovery';

/** The reason for comparing a network's ledger with its chain. */
export type RecoveryReason = 'cluster' | 'nonce' | 'position' | 'reconciliation' | 'command';

export const networkRecoveries = table(
  'network_recoveries',
  {
    livemode: 'boolean',
    status: as<'done' | 'recovering'>('text'),
    reason: 'text?',
    /** True if the run has found a loss of data. */
    loss_shown: 'boolean',
    /** The last block up to which the run has read and booked everything. */
    read_to: 'bigint?',
    started: 'timestamptz?',
    finished: 'timestamptz?',
    payments: 'int',
    refunds: 'int',
    withdrawals: 'int',
    canceled: 'int',
    credentials: 'int',
  },
  {
    /** The last block up to which the ledger lacks nothing; `null` to compare all blocks again. */
    compared_block: 'bigint?',
    /** The question whether the database was restored, which operators must answer. */
    doubt: as<NoncesAhead | null>('jsonb?'),
  },
);

const CHANGED = networkRecoveries.pick(['loss_shown', 'read_to', 'compared_block', 'doubt']);

export async function updateRecovery(
  tx: Tx,
  livemode: boolean,
  set: Partial<Row<typeof CHANGED>>,
): Promise<void> {
  await networkRecoveries.update(tx, set, { where: 'livemode = $1', values: [livemode] });
}

export interface LedgerRow {
  readonly status: 'done' | 'recovering';
  /** The cluster identity of the database on which the last recovery ran. */
  readonly clusterId: string | null;
  readonly request_count: bigint;
  /** True if anything was ever sent or paid on the network. Read only if `clusterId` is `null`. */
  readonly used: boolean;
  /** Next nonces by lower-case address, except those of stopped senders. */
  readonly next_nonces: Readonly<Record<string, string>>;
  /** True while operators must answer whether the database was restored. */
  readonly doubted: boolean;
  /** The WAL position up to which the database server has flushed. */
  readonly position: string;
}

export async function selectLedger(sql: Sql, livemode: boolean): Promise<LedgerRow> {
  const rows = await sql.query<LedgerRow>(
    `select r.status, r.cluster_id as "clusterId", r.request_count,
       case when r.cluster_id is null then
         exists (select from chain_transactions t where t.livemode = r.livemode)
         or exists (select from payments p where p.livemode = r.livemode)
       else true end as used,
       (select coalesce(jsonb_object_agg(lower(l.address), l.next_nonce::text), '{}')
        from relayer_senders l
        where l.livemode = r.livemode and l.stopped_at is null) as next_nonces,
       r.doubt is not null as doubted,
       pg_current_wal_flush_lsn()::text as position
     from network_recoveries r where r.livemode = $1`,
    [livemode],
  );
  return only(rows, 'recovery of a network');
}

/**
 * Requests a recovery, unless one was requested after `requestCount` was read. A running recovery
 * continues, and cannot end before it has seen this request.
 */
export async function requestRecovery(
  sql: Sql,
  wish: {
    readonly livemode: boolean;
    /** The count of requests that the caller has read; `null` to request a recovery always. */
    readonly requestCount: bigint | null;
    readonly reason: RecoveryReason;
    readonly lossShown: boolean;
  },
): Promise<boolean> {
  const rows = await sql.query(
    `with begun as (
       update network_recoveries r
       set status = 'recovering', request_count = request_count + 1, reason = $3, doubt = null,
         loss_shown = $4 or (r.status = 'recovering' and r.loss_shown),
         started = case when r.status = 'recovering' then r.started else now() end,
         finished = null, read_to = null,
         first_day = case when r.status = 'recovering' then r.first_day end,
         payments = case when r.status = 'recovering' then r.payments else 0 end,
         refunds = case when r.status = 'recovering' then r.refunds else 0 end,
         withdrawals = case when r.status = 'recovering' then r.withdrawals else 0 end,
         canceled = case when r.status = 'recovering' then r.canceled else 0 end,
         credentials = case when r.status = 'recovering' then r.credentials else 0 end,
         ended = case when r.status = 'recovering' then r.ended else '{}' end
       where livemode = $1 and ($2::bigint is null or request_count = $2)
       returning livemode
     ), reopened as (
       update network_states n set recovering = true from begun b where n.livemode = b.livemode
     )
     select livemode from begun`,
    [wish.livemode, wish.requestCount, wish.reason, wish.lossShown],
  );
  return rows.length > 0;
}

/** Next nonces on the chain, by lower-case address, of senders whose stored nonce is lower. */
export type NoncesAhead = Readonly<Record<string, string>>;

/** Deletes the question to operators, whether or not they answered it, and resolves its alarm. */
export async function endDoubt(tx: Tx, livemode: boolean, now: Date): Promise<void> {
  await tx.query(
    `with answered as (
       update network_recoveries set doubt = null where livemode = $1 returning livemode
     )
     update chain_alarms a set resolved_at = $2 from answered
     where a.livemode = answered.livemode and a.kind = 'restored_or_not' and a.resolved_at is null`,
    [livemode, now],
  );
}

/** Locks the question to operators. Returns the nonces in it; `null` if there is no question. */
export async function lockDoubt(tx: Tx, livemode: boolean): Promise<NoncesAhead | null> {
  const rows = await tx.query<{ doubt: NoncesAhead | null }>(
    'select doubt from network_recoveries where livemode = $1 for update',
    [livemode],
  );
  return rows[0]?.doubt ?? null;
}

/** Records the cluster id of a database that was never used and so needs no recovery. */
export async function adoptCluster(
  sql: Sql,
  adopted: { readonly livemode: boolean; readonly clusterId: string },
): Promise<void> {
  await sql.query(
    `update network_recoveries set cluster_id = $2
     where livemode = $1 and cluster_id is null and status = 'done'`,
    [adopted.livemode, adopted.clusterId],
  );
}

/** One run of the recovery, in the process that holds the lease. */
export interface RecoveryRun {
  readonly livemode: boolean;
  readonly owner: string;
  readonly fencing_token: bigint;
  readonly request_count: bigint;
  readonly loss_shown: boolean;
  /** The cluster identity of the database on which the last recovery ran. */
  readonly clusterId: string | null;
  /** The last block that this run has read; `null` if it has not read any. */
  readonly read_to: bigint | null;
  /** The run ends credentials that were created before this time. */
  readonly started: Date;
}

/** Takes the lease of a recovery, unless another process holds it. */
export async function takeRecovery(
  sql: Sql,
  input: { readonly livemode: boolean; readonly owner: string; readonly leaseMs: number },
): Promise<RecoveryRun | null> {
  const rows = await sql.query<RecoveryRun>(
    `update network_recoveries
     set lease_owner = $2, lease_until = now() + $3 * interval '1 millisecond',
       fencing_token = fencing_token + 1
     where livemode = $1 and status = 'recovering'
       and (lease_owner is null or lease_owner = $2 or lease_until < now())
     returning livemode, lease_owner as owner, fencing_token, request_count, loss_shown,
       cluster_id as "clusterId", read_to, started`,
    [input.livemode, input.owner, input.leaseMs],
  );
  return rows[0] ?? null;
}

/** Thrown if another process has taken the lease. That process finishes the recovery. */
export class RecoveryLost extends Error {
  override name = 'RecoveryLost';
}

/** Extends the lease, and locks the run's row until the transaction ends. */
export async function holdRecovery(tx: Tx, run: RecoveryRun, leaseMs: number): Promise<void> {
  const rows = await tx.query(
    `update network_recoveries set lease_until = now() + $4 * interval '1 millisecond'
     where livemode = $1 and lease_owner = $2 and fencing_token = $3 returning livemode`,
    [run.livemode, run.owner, run.fencing_token, leaseMs],
  );
  if (rows.length === 0) throw new RecoveryLost('another process has the recovery now');
}

/**
 * Returns the first block whose events the ledger may lack: the block after the last compared one
 * (or else the reconciliation cursor), or the block of the earliest event that reconciliation has
 * found missing. `null` if no block was ever read.
 */
export async function selectFirstUncompared(sql: Sql, livemode: boolean): Promise<bigint | null> {
  const rows = await sql.query<{ block: bigint | null }>(
    `select least(
       coalesce(r.compared_block + 1,
         (select next_block from reconciliation_cursors c where c.livemode = r.livemode)),
       (select min((d.details -> 'chain' ->> 'block_number')::bigint)
        from reconciliation_differences d
        where d.livemode = r.livemode and d.resolved_at is null and d.accepted_at is null
          and d.kind like '%_unknown_here')) as block
     from network_recoveries r where r.livemode = $1`,
    [livemode],
  );
  return rows[0]?.block ?? null;
}

/** Records that the ledger lacks nothing that the chain has up to this block. */
export async function markCompared(
  sql: Sql,
  change: {
    readonly livemode: boolean;
    readonly clusterId: string | null;
    readonly block: bigint;
  },
): Promise<void> {
  await sql.query(
    `update network_recoveries set compared_block = greatest(compared_block, $3)
     where livemode = $1 and status = 'done' and cluster_id = $2`,
    [change.livemode, change.clusterId, change.block],
  );
}

/** Returns the modes in which the recovery of a loss ended after `since`, or has not ended yet. */
export async function selectLossesSince(sql: Sql, since: Date): Promise<boolean[]> {
  const rows = await sql.query<{ livemode: boolean }>(
    `select livemode from network_recoveries
     where loss_shown and (status = 'recovering' or finished > $1)`,
    [since],
  );
  return rows.map(({ livemode }) => livemode);
}

/** Contract events without a row in the ledger, except those that wait for operators. */
export interface UnknownHere {
  /** The number of these events that a recovery can book. */
  readonly count: number;
  /**
   * Events that were unknown before the last recovery and still are, so another recovery would not
   * help. Accepted events are not among them, because the next recovery books those.
   */
  readonly uncured: readonly { readonly subject: string; readonly details: UncuredDetails }[];
}
type UncuredDetails = { readonly [key: string]: unknown };

export async function selectUnknownHere(sql: Sql, livemode: boolean): Promise<UnknownHere> {
  const rows = await sql.query<UnknownHere>(
    `select count(*)::int as count, coalesce(
       jsonb_agg(jsonb_build_object('subject', u.subject, 'details', u.details))
         filter (where u.is_uncured), '[]') as uncured
     from (
       select n.subject, d.details, r.status = 'done' and d.first_seen < r.started
         and payment.applied_at >= r.started is not true and settled.is_foreign is not true
         as is_uncured
       from reconciliation_differences d
       join network_recoveries r on r.livemode = d.livemode
       cross join lateral (
         select replace(d.kind, '_unknown_here', '') || ' ' || d.subject as subject) n
       -- What has settled, or is settling, the payment of a refund that is unknown here.
       cross join lateral (
         select max(q.applied_at) as applied_at,
           bool_or(q.applied_at is null and not exists (
             select from payments p
             where p.livemode = i.livemode and p.settlement_number = i.settlement_number))
           as is_under_way
         from payment_intents i
         join chain_requests q on q.kind = 'payment' and q.subject_id = i.id
           and q.status in ('queued', 'submitted', 'succeeded')
         where d.kind = 'refund_unknown_here' and i.livemode = d.livemode
           and i.settlement_number = (d.details -> 'chain' ->> 'number')::bigint) payment
       cross join lateral (
         select count(*) > 0 as is_foreign,
           bool_or(f.decision is distinct from 'accepted') as is_open
         from foreign_settlements f where f.livemode = d.livemode and ${IS_DIFFERENCE}) settled
       where d.livemode = $1 and d.resolved_at is null and d.accepted_at is null
         and d.kind like '%_unknown_here' and settled.is_open is not true
         -- A refund whose payment is still being settled can be booked only after it.
         and payment.is_under_way is not true
         and not exists (
           select from chain_alarms a where a.livemode = d.livemode and a.subject = n.subject
             and a.kind in ('foreign_key_used', 'foreign_settlement', 'number_taken',
               'paid_after_failure', 'not_recovered'))) u`,
    [livemode],
  );
  return only(rows, 'differences that are unknown here');
}

export interface RecoveryCounts {
  readonly payments?: number;
  readonly refunds?: number;
  readonly withdrawals?: number;
  readonly canceled?: number;
  /** The creation time of the oldest object whose statistics may have changed. */
  readonly oldest?: Date | null;
}

export async function countRecovered(
  tx: Tx,
  livemode: boolean,
  counts: RecoveryCounts,
): Promise<void> {
  await tx.query(
    `update network_recoveries
     set payments = payments + $2, refunds = refunds + $3, withdrawals = withdrawals + $4,
       canceled = canceled + $5,
       first_day = least(first_day, ($6::timestamptz at time zone 'UTC')::date)
     where livemode = $1`,
    [
      livemode,
      counts.payments ?? 0,
      counts.refunds ?? 0,
      counts.withdrawals ?? 0,
      counts.canceled ?? 0,
      counts.oldest ?? null,
    ],
  );
}

/** Adds the counts of credentials that the run has ended to those of interrupted runs. */
export async function noteEnded(
  tx: Tx,
  livemode: boolean,
  ended: Readonly<Record<string, number>>,
): Promise<void> {
  await tx.query(
    `update network_recoveries set
       credentials = credentials + (
         select coalesce(sum(value::integer), 0) from jsonb_each_text($2)),
       ended = (
         select coalesce(jsonb_object_agg(kind, count), '{}') from (
           select key as kind, sum(value::integer) as count
           from (select * from jsonb_each_text(ended)
             union all select * from jsonb_each_text($2)) both_runs
           group by key) kinds)
     where livemode = $1`,
    [livemode, JSON.stringify(ended)],
  );
}

/**
 * Ends the run. It must run again if a recovery was requested meanwhile, or if a loss was proved
 * that this run has not handled. The next reconciliation compares everything.
 */
export async function finishRecovery(
  tx: Tx,
  run: RecoveryRun,
  finished: { readonly clusterId: string; readonly comparedBlock: bigint; readonly now: Date },
): Promise<boolean> {
  const rows = await tx.query(
    `with done as (
       update network_recoveries
       set status = 'done', cluster_id = $5, finished = $6, lease_owner = null, lease_until = null,
         compared_block = greatest(compared_block, $8),
         lost_to = case when loss_shown then greatest(lost_to, read_to) else lost_to end
       where livemode = $1 and lease_owner = $2 and fencing_token = $3 and request_count = $4
         and loss_shown = $7
       returning livemode
     ), reopened as (
       update network_states n set recovering = false from done d where n.livemode = d.livemode
     ), everything as (
       update reconciliation_cursors c set compared_block = null, compared_at = null
       from done d where c.livemode = d.livemode
     )
     select livemode from done`,
    [
      run.livemode,
      run.owner,
      run.fencing_token,
      run.request_count,
      finished.clusterId,
      finished.now,
      run.loss_shown,
      finished.comparedBlock,
    ],
  );
  return rows.length > 0;
}
