import type pg from 'pg';

/** Owns the audit log; nobody signs in as it. */
export const AUDIT_ROLE = 'tapline_audit';

/** What docs/operate.md tells an operator of a PostgreSQL of their own to run, once. */
const STATEMENTS = (role: string) => [
  `alter schema public owner to ${AUDIT_ROLE}`,
  `grant usage, create on schema public to ${role}`,
  // Whoever owns the function can write another one in its place.
  `alter function public.audit_log_is_append_only() owner to ${AUDIT_ROLE}`,
  // The owner's own rights go over with the table: nothing is left to the role but these two.
  `alter table public.audit_log owner to ${AUDIT_ROLE}`,
  `grant select, insert on public.audit_log to ${role}`,
];

/**
 * Gives the audit log to a role of its own, so that the service's role can add to it and read it,
 * and neither change, cut off nor drop it or its trigger. Does nothing where that is done already.
 */
export async function guardAuditLog(superuser: pg.Client, role: string): Promise<void> {
  const { rows } = await superuser.query<{ owner: string }>(
    `select tableowner as owner from pg_tables
     where schemaname = 'public' and tablename = 'audit_log'`,
  );
  if (rows[0]?.owner === AUDIT_ROLE) return;
  await superuser.query('begin');
  const roles = await superuser.query('select 1 from pg_roles where rolname = $1', [AUDIT_ROLE]);
  if (roles.rows.length === 0) await superuser.query(`create role ${AUDIT_ROLE} nologin`);
  for (const statement of STATEMENTS(role)) await superuser.query(statement);
  await superuser.query('commit');
}
