import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';

export interface DayRow {
  /** YYYY-MM-DD, UTC. */
  readonly day: string;
  /** '' for all terminals together. */
  readonly terminal_id: string;
  readonly intents: number;
  readonly succeeded: number;
  readonly canceled: number;
  readonly payments: number;
  readonly volume: bigint;
  readonly refunds: number;
  readonly refunded: bigint;
  readonly settle_ms_median: number | null;
  readonly settle_ms_p95: number | null;
  readonly declines: { readonly [code: string]: number };
}

const FIELDS = `terminal_id, intents, succeeded, canceled, payments, volume, refunds, refunded,
  settle_ms_median, settle_ms_p95, declines`;

export interface DayOf {
  readonly tenant: Tenant;
  readonly day: string;
}

// The figures of one day ($1 account, $2 mode, $3 day, $4 now): three range scans of the list
// indexes, whose cost is that of the day's own rows. Each is grouped by terminal and once over
// all. An unpaid intent that has expired counts as canceled before the worker has written it.
const FIGURES = `
  with bounds as (
    select ($3::date)::timestamp at time zone 'UTC' as since,
      ($3::date + 1)::timestamp at time zone 'UTC' as until
  ), intents as (
    select coalesce(terminal_id, '') as terminal_id, count(*)::int as intents,
      (count(*) filter (where status = 'succeeded'))::int as succeeded,
      (count(*) filter (where status = 'canceled'
        or (status = 'requires_payment_method' and expires_at <= $4)))::int as canceled
    from payment_intents, bounds
    where account_id = $1 and livemode = $2 and created >= since and created < until
    group by grouping sets ((terminal_id), ())
  ), declines as (
    select terminal_id, jsonb_object_agg(code, number) as declines
    from (
      select coalesce(terminal_id, '') as terminal_id,
        last_payment_error ->> 'decline_code' as code, count(*)::int as number
      from payment_intents, bounds
      where account_id = $1 and livemode = $2 and created >= since and created < until
        and last_payment_error is not null
      group by grouping sets ((terminal_id, 2), (2))
    ) d group by terminal_id
  ), paid as (
    select coalesce(p.terminal_id, '') as terminal_id, count(*)::int as payments,
      sum(p.amount)::bigint as volume,
      percentile_disc(0.5) within group (order by s.ms)::int as median,
      percentile_disc(0.95) within group (order by s.ms)::int as p95
    from bounds, payments p
    join payment_intents i on i.id = p.payment_intent_id
    cross join lateral (
      select extract(epoch from p.created - coalesce(i.tapped_at, i.created)) * 1000 as ms
    ) s
    where p.account_id = $1 and p.livemode = $2 and p.created >= since and p.created < until
    group by grouping sets ((p.terminal_id), ())
  ), back as (
    select coalesce(p.terminal_id, '') as terminal_id, count(*)::int as refunds,
      sum(r.amount)::bigint as refunded
    from bounds, refunds r join payments p on p.id = r.payment_id
    where r.account_id = $1 and r.livemode = $2 and r.created >= since and r.created < until
      and r.status = 'succeeded'
    group by grouping sets ((p.terminal_id), ())
  ), terminals as (
    select terminal_id from intents union select terminal_id from paid
    union select terminal_id from back union select ''
  )
  select t.terminal_id, coalesce(i.intents, 0) as intents, coalesce(i.succeeded, 0) as succeeded,
    coalesce(i.canceled, 0) as canceled, coalesce(p.payments, 0) as payments,
    coalesce(p.volume, 0)::bigint as volume, coalesce(b.refunds, 0) as refunds,
    coalesce(b.refunded, 0)::bigint as refunded, p.median as settle_ms_median,
    p.p95 as settle_ms_p95, coalesce(d.declines, '{}') as declines
  from terminals t
  left join intents i using (terminal_id) left join declines d using (terminal_id)
  left join paid p using (terminal_id) left join back b using (terminal_id)`;

/** A day as it stands now. */
export async function selectFigures(sql: Sql, of: DayOf, now: Date): Promise<DayRow[]> {
  return sql.query<DayRow>(`select $3::date::text as day, f.* from (${FIGURES}) f`, [
    of.tenant.accountId,
    of.tenant.livemode,
    of.day,
    now,
  ]);
}

/** Keeps the figures of a day that is over. Two at once write the same. */
export async function storeFigures(sql: Sql, of: DayOf, now: Date): Promise<void> {
  await sql.query(
    `insert into statistics_days (account_id, livemode, day, ${FIELDS})
     select $1, $2, $3::date, ${FIELDS} from (${FIGURES}) f
     on conflict do nothing`,
    [of.tenant.accountId, of.tenant.livemode, of.day, now],
  );
}

/** Whether something of the day can still change its figures. */
export async function hasOpenWork(sql: Sql, of: DayOf): Promise<boolean> {
  const rows = await sql.query<{ open: boolean }>(
    `with bounds as (
       select ($3::date)::timestamp at time zone 'UTC' as since,
         ($3::date + 1)::timestamp at time zone 'UTC' as until
     )
     select exists (
       select from payment_intents, bounds
       where account_id = $1 and livemode = $2 and created >= since and created < until
         and status in ('requires_payment_method', 'requires_action', 'processing')
     ) or exists (
       select from refunds, bounds
       where account_id = $1 and livemode = $2 and created >= since and created < until
         and status = 'pending'
     ) as open`,
    [of.tenant.accountId, of.tenant.livemode, of.day],
  );
  return rows[0]?.open ?? false;
}

export async function selectStoredDays(
  sql: Sql,
  of: { readonly tenant: Tenant; readonly from: string; readonly to: string },
): Promise<DayRow[]> {
  return sql.query<DayRow>(
    `select day::text as day, ${FIELDS} from statistics_days
     where account_id = $1 and livemode = $2 and day >= $3 and day <= $4`,
    [of.tenant.accountId, of.tenant.livemode, of.from, of.to],
  );
}

/** When the account's first intent of the mode was made: nothing is older. */
export async function selectFirstDay(sql: Sql, tenant: Tenant): Promise<string | null> {
  const rows = await sql.query<{ day: string }>(
    `select (created at time zone 'UTC')::date::text as day from payment_intents
     where account_id = $1 and livemode = $2 order by created, position limit 1`,
    [tenant.accountId, tenant.livemode],
  );
  return rows[0]?.day ?? null;
}

export interface ReportRow {
  readonly terminal_id: string;
  readonly payments: number;
  readonly gross: bigint;
  readonly fee_acquirer: bigint;
  readonly fee_protocol: bigint;
  readonly fee_cashback: bigint;
}

export interface DaySums {
  readonly refunds: number;
  readonly refunded: bigint;
  readonly withdrawals: number;
  readonly withdrawn: bigint;
}

/** What was settled on a day, by terminal; '' for all. */
export async function selectSettled(sql: Sql, of: DayOf): Promise<ReportRow[]> {
  return sql.query<ReportRow>(
    `select coalesce(terminal_id, '') as terminal_id, count(*)::int as payments,
       coalesce(sum(amount), 0)::bigint as gross,
       coalesce(sum(fee_acquirer), 0)::bigint as fee_acquirer,
       coalesce(sum(fee_protocol), 0)::bigint as fee_protocol,
       coalesce(sum(fee_cashback), 0)::bigint as fee_cashback
     from payments
     where account_id = $1 and livemode = $2
       and created >= ($3::date)::timestamp at time zone 'UTC'
       and created < ($3::date + 1)::timestamp at time zone 'UTC'
     group by grouping sets ((terminal_id), ()) order by 1`,
    [of.tenant.accountId, of.tenant.livemode, of.day],
  );
}

/** What left the balance on a day. */
export async function selectPaidOut(sql: Sql, of: DayOf): Promise<DaySums> {
  const rows = await sql.query<DaySums>(
    `with bounds as (
       select ($3::date)::timestamp at time zone 'UTC' as since,
         ($3::date + 1)::timestamp at time zone 'UTC' as until
     ), back as (
       select count(*)::int as refunds, coalesce(sum(amount), 0)::bigint as refunded
       from refunds, bounds
       where account_id = $1 and livemode = $2 and created >= since and created < until
         and status = 'succeeded'
     ), gone as (
       select count(*)::int as withdrawals, coalesce(sum(amount), 0)::bigint as withdrawn
       from withdrawals, bounds
       where account_id = $1 and livemode = $2 and created >= since and created < until
         and status = 'succeeded'
     )
     select * from back, gone`,
    [of.tenant.accountId, of.tenant.livemode, of.day],
  );
  return rows[0] ?? { refunds: 0, refunded: 0n, withdrawals: 0, withdrawn: 0n };
}
