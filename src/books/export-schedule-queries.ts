import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';

/** The statements of periods that have ended. */
export const scheduledExports = table('scheduled_exports', {
  account_id: 'text',
  livemode: 'boolean',
  every: as<'day' | 'week' | 'month'>('text'),
  from_day: 'text',
  to_day: 'text',
  time_zone: 'text',
  format: 'text',
  token_hash: 'bytea?',
  expires_at: 'timestamptz?',
});

export type ScheduledExport = Row<typeof scheduledExports>;

/** Returns the last day for which a statement was announced; null if there is none. */
export async function selectLastDay(
  sql: Sql,
  { accountId, livemode }: Tenant,
  every: ScheduledExport['every'],
): Promise<string | null> {
  const rows = await sql.query<{ to_day: string }>(
    `select to_day from scheduled_exports
     where account_id = $1 and livemode = $2 and every = $3 order by from_day desc limit 1`,
    [accountId, livemode, every],
  );
  return rows[0]?.to_day ?? null;
}

/** Returns the export that a link names, unless the link has expired by the account's clock. */
export async function selectExportByLink(
  sql: Sql,
  filter: { readonly hash: Buffer; readonly now: Date },
): Promise<ScheduledExport | undefined> {
  return scheduledExports.find(
    sql,
    `x where token_hash = $1 and exists (
       select from account_modes m where m.account_id = x.account_id and m.livemode = x.livemode
         and x.expires_at > $2::timestamptz + m.ahead_seconds * interval '1 second')`,
    [filter.hash, filter.now],
  );
}
