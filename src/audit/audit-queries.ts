import type { Json } from '#core/canonical-json.ts';
import type { Sql, Tx } from '#db/database.ts';
import { lockName } from '#db/lock-by-name.ts';
import { BEHIND_ALL_NUMBERS } from '#db/paging.ts';
import { as, type Row, table } from '#db/table.ts';

export const auditEntries = table('audit_log', {
  chain: 'text',
  sequence: 'bigint',
  created: 'timestamptz',
  actor: as<Exclude<Json, null>>('jsonb'),
  action: 'text',
  object_id: 'text',
  livemode: 'boolean?',
  before: as<Json>('jsonb?'),
  after: as<Json>('jsonb?'),
  request_id: 'text?',
  address: 'text?',
  previous_hash: 'bytea',
  hash: 'bytea',
});

export type AuditRow = Row<typeof auditEntries>;

/** Locks an audit log until the commit, so that it has one writer at a time. */
export async function lockAuditLog(tx: Tx, auditLog: string): Promise<void> {
  await lockName(tx, `audit ${auditLog}`);
}

export async function selectHead(
  sql: Sql,
  auditLog: string,
): Promise<{ sequence: bigint; hash: Buffer } | undefined> {
  const rows = await sql.query<{ sequence: bigint; hash: Buffer }>(
    'select sequence, hash from audit_log where chain = $1 order by sequence desc limit 1',
    [auditLog],
  );
  return rows[0];
}

/** SQL: the names of all audit logs, each found by one index look-up, and `null` after the last. */
export const CHAINS = `
  with recursive chains as (
    (select chain from audit_log order by chain limit 1)
    union all
    select (select a.chain from audit_log a where a.chain > c.chain order by a.chain limit 1)
    from chains c where c.chain is not null
  )`;

export async function selectAuditLogs(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ chain: string }>(
    `${CHAINS} select chain from chains where chain is not null`,
  );
  return rows.map((row) => row.chain);
}

export async function selectEntries(
  sql: Sql,
  filter: { readonly auditLog: string; readonly after: bigint; readonly limit: number },
): Promise<AuditRow[]> {
  return auditEntries.list(sql, 'where chain = $1 and sequence > $2 order by sequence limit $3', [
    filter.auditLog,
    filter.after,
    filter.limit,
  ]);
}

/** Returns an audit log's entries newest first, for display. */
export async function selectNewest(
  sql: Sql,
  filter: {
    readonly auditLog: string;
    readonly before: bigint | null;
    readonly objectId: string | null;
    readonly limit: number;
  },
): Promise<AuditRow[]> {
  const { auditLog, before, objectId, limit } = filter;
  return auditEntries.list(
    sql,
    `where chain = $1 and sequence < $2 ${objectId === null ? '' : 'and object_id = $4'}
     order by sequence desc limit $3`,
    [auditLog, before ?? BEHIND_ALL_NUMBERS, limit, ...(objectId === null ? [] : [objectId])],
  );
}
