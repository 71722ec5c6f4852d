import type { Sql } from '#db/database.ts';

export interface WorkRow {
  readonly queue: string;
  readonly count: number;
  /** Seconds since the oldest item became due. */
  readonly oldest_seconds: number;
}

/** Returns the workers' overdue work. Each count uses a partial index or the queue's index. */
export async function selectWaitingWork(sql: Sql): Promise<WorkRow[]> {
  return sql.query(
    `select 'webhook_deliveries' as queue, count(*)::int as count,
       coalesce(extract(epoch from now() - min(greatest(due_at, created))), 0)::float as
         oldest_seconds
     from webhook_due where due_at <= now()
     union all
     select 'expired_intents', count(*)::int,
       coalesce(extract(epoch from now() - min(expires_at)), 0)::float
     from payment_intents where status = 'requires_payment_method' and expires_at <= now()
     union all
     select 'overdue_confirmations', count(*)::int,
       coalesce(extract(epoch from now() - min(confirm_by)), 0)::float
     from payment_intents where status = 'requires_action' and confirm_by <= now()`,
  );
}

export interface WatchRow {
  readonly livemode: boolean;
  readonly seconds: number;
}

/** Returns the seconds since a watchtower last polled each network; no row if none ever did. */
export async function selectWatchAges(sql: Sql): Promise<WatchRow[]> {
  return sql.query(
    `select livemode, greatest(extract(epoch from now() - looked_at), 0)::float as seconds
     from watch_cursors`,
  );
}

export interface ArchiveRow {
  /** Seconds since a WAL file was last archived, or since the first one was due. */
  readonly seconds: number | null;
}

/**
 * Returns the age of the newest archived WAL file; no row if archiving is off. One file per minute
 * is due (`archive_timeout`).
 */
export async function selectArchiveAge(sql: Sql): Promise<ArchiveRow[]> {
  return sql.query(
    `select extract(epoch from clock_timestamp() - coalesce(last_archived_time, stats_reset))::float
       as seconds
     from pg_stat_archiver where current_setting('archive_mode') <> 'off'`,
  );
}

export interface DatabaseAgesRow {
  readonly connections: number;
  /** Age of the oldest open transaction. Until it ends, vacuum cannot clean up the queues. */
  readonly oldest_transaction_seconds: number;
  /** Number of transactions since the oldest snapshot that is still in use. */
  readonly oldest_snapshot_age: number;
}

export async function selectDatabaseAges(sql: Sql): Promise<DatabaseAgesRow[]> {
  return sql.query(
    `select count(*)::int as connections,
       coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float
         as oldest_transaction_seconds,
       coalesce(max(age(backend_xmin)), 0)::int as oldest_snapshot_age
     from pg_stat_activity where datname = current_database()`,
  );
}

/**
 * Returns the median time from tap to payment of the network's last hundred payments; `null` if
 * none of them was a tap.
 */
export async function selectMedianPaidMs(sql: Sql, livemode: boolean): Promise<number | null> {
  const [row] = await sql.query<{ ms: number | null }>(
    `select (percentile_disc(0.5) within group (
         order by extract(epoch from p.created - i.tapped_at) * 1000))::int as ms
     from (
       select payment_intent_id, created from payments
       where livemode = $1 order by block_number desc limit 100
     ) p
     join payment_intents i on i.id = p.payment_intent_id and i.tapped_at is not null`,
    [livemode],
  );
  return row?.ms ?? null;
}
