import { StartError } from '#core/start-error.ts';
import type { Sql } from '#db/database.ts';

/**
 * What a lost primary costs. `synchronous`: nothing, because each commit waits for a standby.
 * `asynchronous`: the last commits. `single`: everything since the last backup.
 */
export const DURABILITIES = ['single', 'asynchronous', 'synchronous'] as const;

export type Durability = (typeof DURABILITIES)[number];

/** What the operator has said is meant: `managed` is a provider whose copies cannot be seen. */
export const DECLARED_DURABILITIES = ['managed', 'single', 'asynchronous'] as const;

export type DeclaredDurability = (typeof DECLARED_DURABILITIES)[number];

export interface ReplicationRow {
  /** `synchronous_standby_names`. */
  readonly names: string;
  /** `synchronous_commit` of our own connections. */
  readonly commit: string;
  readonly standbys: number;
  /** Those that commits wait for. */
  readonly synchronous: number;
  /** How far the farthest is behind. */
  readonly lag_bytes: number;
}

/** What the primary says of its standbys (of their states only to members of `pg_monitor`). */
export async function selectReplication(sql: Sql): Promise<ReplicationRow> {
  const [row] = await sql.query<ReplicationRow>(
    `select current_setting('synchronous_standby_names') as names,
       current_setting('synchronous_commit') as commit,
       (count(*) filter (where state is distinct from 'backup'))::int as standbys,
       (count(*) filter (where sync_state in ('sync', 'quorum')))::int as synchronous,
       coalesce(max(pg_wal_lsn_diff(pg_current_wal_lsn(), flush_lsn)), 0)::float as lag_bytes
     from pg_stat_replication`,
  );
  if (row === undefined) throw new Error('an aggregate without a row');
  return row;
}

/** Below these a commit does not wait for a standby. */
const LOCAL_COMMIT = new Set(['off', 'local']);

export function judgeReplication(row: ReplicationRow): Durability {
  // With names and no standby a commit waits for one to come: nothing can be lost by that either.
  if (row.names.trim() !== '' && !LOCAL_COMMIT.has(row.commit)) return 'synchronous';
  return row.standbys > 0 ? 'asynchronous' : 'single';
}

/** Whether what was found is less than what was declared; nothing declared means synchronous. */
export function fallsShort(found: Durability, declared: DeclaredDurability | null): boolean {
  if (declared === 'managed') return false;
  return DURABILITIES.indexOf(found) < DURABILITIES.indexOf(declared ?? 'synchronous');
}

const LOSES: Readonly<Record<Durability, string>> = {
  synchronous: '',
  asynchronous:
    'its standbys follow asynchronously, so losing the primary loses the last payments: set ' +
    'synchronous_standby_names, or DATABASE_DURABILITY=asynchronous if that is meant',
  single:
    'it has no standby, so losing it loses everything since the last backup: add one, or set ' +
    'DATABASE_DURABILITY=single if that is meant (managed where a provider keeps copies that ' +
    'cannot be seen)',
};

/**
 * For the start in production: what a lost primary costs must have been said by somebody. After a
 * failover fewer standbys may be left than were declared, and starting must still be possible.
 * @throws StartError when nothing was declared and commits wait for no standby.
 */
export async function requireDurability(
  sql: Sql,
  declared: DeclaredDurability | null,
): Promise<void> {
  if (declared !== null) return;
  const found = judgeReplication(await selectReplication(sql));
  if (found !== 'synchronous') throw new StartError(`DATABASE_URL: ${LOSES[found]}`);
}
