import type { Log } from '#core/log.ts';
import type { Sql } from '#db/database.ts';

interface RightsRow {
  readonly owns: boolean;
  readonly changes: boolean;
}

/** Whether this connection's role can only add to the audit log. */
export async function canOnlyAdd(sql: Sql): Promise<boolean> {
  const rows = await sql.query<RightsRow>(
    `select pg_has_role(c.relowner, 'member') or pg_has_role(n.nspowner, 'member')
         or pg_has_role(f.proowner, 'member') as owns,
       has_table_privilege(c.oid, 'update, delete, truncate, trigger') as changes
     from pg_class c
     join pg_namespace n on n.oid = c.relnamespace
     join pg_proc f on f.oid = 'audit_log_is_append_only()'::regprocedure
     where c.oid = 'audit_log'::regclass`,
  );
  return rows[0]?.owns === false && rows[0].changes === false;
}

/** Says at each start how far the audit log is out of the service's own reach. */
export async function reportAuditRole(sql: Sql, log: Log): Promise<void> {
  if (await canOnlyAdd(sql)) {
    log.info('audit log: this database role can add entries, and neither change nor remove any');
  } else {
    log.warn(
      'audit log: this database role could change or remove entries; docs/operate.md, section 3, ' +
        'gives the log to a role of its own',
    );
  }
}
