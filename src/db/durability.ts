import { StartError } from '#core/start-error.ts';
import type { Sql } from '#db/database.ts';

/**
 * The data that is lost with the primary. `synchronous`: none, because each commit waits for a
 * standby. `asynchronous`: the last commits. `single`: everything since the last backup.
 */
export const DURABILITIES = ['single', 'asynchronous', 'synchronous'] as const;

export type Durability = (typeof DURABILITIES)[number];

/**
 * The levels of durability that an operator may declare. `managed` means that a provider keeps
 * replicas that are invisible to us.
 */
export const DECLARED_DURABILITIES = ['managed', 'single', 'asynchronous'] as const;

export type DeclaredDurability = (typeof DECLARED_DURABILITIES)[number];

export interface ReplicationRow {
  /** `synchronous_standby_names`. */
  readonly names: string;
  /** `synchronous_commit` of our own connections. */
  readonly commit: string;
  readonly standbys: number;
  /** The number of standbys that commits wait for. */
  readonly synchronous: number;
  /** Number of bytes by which the slowest standby lags behind. */
  readonly lag_bytes: number;
}

/**
 * Returns what the primary knows about its standbys. Only members of `pg_monitor` can see their
 * states.
 */
export async function selectReplication(sql: Sql): Promise<ReplicationRow> {
  const [row] = await sql.query<ReplicationRow>(
    `select current_setting('synchronous_standby_names') as names,
       current_setting('synchronous_commit') as commit,
       (count(*) filter (where state is distinct from 'backup'))::int as standbys,
       (count(*) filter (where sync_state in ('sync', 'quorum')))::int as synchronous,
       coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)), 0)::float as lag_bytes
     from pg_stat_replication`,
  );
  if (row === undefined) throw new Error('the aggregate query returned no row');
  return row;
}

/** Values of `synchronous_commit` with which commits wait for no standby. */
const LOCAL_COMMIT = new Set(['off', 'local']);

export function judgeReplication(row: ReplicationRow): Durability {
  // If standbys are named but none is connected, commits wait until one connects, so no
  // acknowledged commit can be lost.
  if (row.names.trim() !== '' && !LOCAL_COMMIT.has(row.commit)) return 'synchronous';
  return row.standbys > 0 ? 'asynchronous' : 'single';
}

/**
 * True if the database is less durable than declared. Without a declaration, it must be
 * synchronous.
 */
export function fallsShort(actual: Durability, declared: DeclaredDurability | null): boolean {
  if (declared === 'managed') return false;
  return DURABILITIES.indexOf(actual) < DURABILITIES.indexOf(declared ?? 'synchronous');
}

const LOSES: Readonly<Record<Durability, string>> = {
  synchronous: '',
  asynchronous:
    'its standbys follow asynchronously, so losing the primary loses the last payments: set ' +
    'synchronous_standby_names, or DATABASE_DURABILITY=asynchronous if that is intended',
  single:
    'it has no standby, so losing it loses everything since the last backup: add one, or set ' +
    'DATABASE_DURABILITY=single if that is intended (managed if a provider keeps replicas that ' +
    'are invisible here)',
};

/**
 * For a production start: requires that commits wait for a standby, or that the operator has
 * declared the durability. A start with fewer standbys than declared is allowed, because a failover
 * may leave fewer.
 * @throws StartError if nothing was declared and commits wait for no standby
 */
export async function requireDurability(
  sql: Sql,
  declared: DeclaredDurability | null,
): Promise<void> {
  if (declared !== null) return;
  const actual = judgeReplication(await selectReplication(sql));
  if (actual !== 'synchronous') throw new StartError(`DATABASE_URL: ${LOSES[actual]}`);
}
