import type { Tenant } from '#core/mode.ts';
import type { Sql, Tx } from '#db/database.ts';
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

/** An account and mode with a schedule. */
export interface DueExport {
  readonly account_id: string;
  readonly livemode: boolean;
  readonly every: ScheduledExport['every'];
  readonly format: string;
  readonly email: string | null;
  readonly account_name: string;
  readonly time_zone: string;
  readonly ahead_seconds: bigint;
  /** The last day that was announced; `null` if none was. */
  readonly last_day: string | null;
}

/**
 * Returns accounts and modes whose last announced period may have a successor by now. The next one
 * ends 14 hours before the end of its last day in UTC at the earliest. The last period is found by
 * its first day, which ends the primary key: `max(to_day)` would read all periods of each account,
 * which takes a second for 2,000 accounts after 90 days.
 */
export async function selectDueExports(sql: Sql, now: Date): Promise<DueExport[]> {
  return sql.query<DueExport>(
    `select a.id as account_id, m.livemode, a.export_schedule ->> 'every' as every,
       a.export_schedule ->> 'format' as format, a.export_schedule ->> 'email' as email,
       a.name as account_name, a.time_zone, m.ahead_seconds,
       last.to_day as last_day
     from accounts a
     join account_modes m on m.account_id = a.id and m.merchant_number is not null
     left join lateral (
       select x.to_day from scheduled_exports x
       where x.account_id = a.id and x.livemode = m.livemode
         and x.every = a.export_schedule ->> 'every'
       order by x.from_day desc limit 1
     ) last on true
     where a.export_schedule is not null and a.status = 'active'
       and (last.to_day is null
         or $1::timestamptz + m.ahead_seconds * interval '1 second'
           >= (last.to_day::timestamp at time zone 'UTC') + interval '34 hours')
     order by a.id, m.livemode`,
    [now],
  );
}

/** Locks an account whose schedule is still this one. @returns true if it is. */
export async function lockScheduled(tx: Tx, due: DueExport): Promise<boolean> {
  const rows = await tx.query(
    `select from accounts
     where id = $1 and export_schedule ->> 'every' = $2 and export_schedule ->> 'format' = $3
       and export_schedule ->> 'email' is not distinct from $4 for update`,
    [due.account_id, due.every, due.format, due.email],
  );
  return rows.length > 0;
}

/** Returns the last day that was announced; null if none was. */
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

/** @returns true if the period was not recorded before. */
export async function insertScheduled(tx: Tx, row: ScheduledExport): Promise<boolean> {
  const { account_id, livemode, every, from_day, to_day, ...rest } = row;
  const { time_zone, format, token_hash, expires_at } = rest;
  const stored = await scheduledExports.upsert(
    tx,
    {
      ...{ account_id, livemode, every, from_day, to_day },
      ...{ time_zone, format, token_hash, expires_at },
    },
    'on conflict do nothing',
  );
  return stored !== undefined;
}

/** Returns the export of a link that has not expired, by the account's clock. */
export async function selectExportByLink(
  sql: Sql,
  wanted: { readonly hash: Buffer; readonly now: Date },
): Promise<ScheduledExport | undefined> {
  return scheduledExports.find(
    sql,
    `x where token_hash = $1 and exists (
       select from account_modes m where m.account_id = x.account_id and m.livemode = x.livemode
         and x.expires_at > $2::timestamptz + m.ahead_seconds * interval '1 second')`,
    [wanted.hash, wanted.now],
  );
}
