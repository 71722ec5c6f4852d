import type { Sql } from '#db/database.ts';

export interface WorkRow {
  /** What is waiting. */
  readonly queue: string;
  readonly count: number;
  /** How long the oldest has been due. */
  readonly oldest_seconds: number;
}

/** What workers should have done by now. Each count is served by a partial or queue index. */
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

/** How long ago a watchtower has looked at each network; no row where there never was one. */
export async function selectWatchAges(sql: Sql): Promise<WatchRow[]> {
  return sql.query(
    `select livemode, greatest(extract(epoch from now() - looked_at), 0)::float as seconds
     from watch_cursors`,
  );
}

export interface ArchiveRow {
  /** Since a file of the log reached the archive, or, if none did, since it should have. */
  readonly seconds: number | null;
}

/** No row where the database archives nothing. A file a minute is due (`archive_timeout`). */
export async function selectArchiveAge(sql: Sql): Promise<ArchiveRow[]> {
  return sql.query(
    `select extract(epoch from clock_timestamp() - coalesce(last_archived_time, stats_reset))::float
       as seconds
     from pg_stat_archiver where current_setting('archive_mode') <> 'off'`,
  );
}

export interface DatabaseAgesRow {
  readonly connections: number;
  /** The longest transaction: it holds back the cleaning of every queue. */
  readonly oldest_transaction_seconds: number;
  /** Transactions since the oldest snapshot that somebody still holds. */
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
