import {
  HOURS,
  HOURS_NO_LONGER_NEEDED,
  overFor,
} from '#apis/dashboard/statistics/statistics-hours.ts';
import { dayBounds, type ShopDays } from '#core/calendar.ts';
import type { Tenant } from '#core/mode.ts';
import type { Sql } from '#db/database.ts';

export interface DayRow {
  /** YYYY-MM-DD, in the account's time zone. */
  readonly day: string;
  /** The terminal's ID; empty in the row with the sum of all terminals. */
  readonly terminal_id: string;
  readonly intents: number;
  readonly succeeded: number;
  readonly canceled: number;
  /** Intents that the shop canceled before any decline. */
  readonly called_off: number;
  readonly payments: number;
  readonly volume: bigint;
  readonly tips: bigint;
  readonly refunds: number;
  readonly refunded: bigint;
  readonly settle_ms_median: number | null;
  readonly settle_ms_p95: number | null;
  readonly declines: { readonly [code: string]: number };
}

export interface PartRow extends Omit<DayRow, 'day' | 'settle_ms_median' | 'settle_ms_p95'> {
  /**
   * JSON: the number of payments by their milliseconds from tap to payment, with three significant
   * digits, as in `{"870": 12, "1250": 3}`. Not parsed here, because a busy day has 30,000 payments
   * and `JSON.parse` is slow on them.
   */
  readonly settle_ms: string;
  readonly is_kept: boolean;
}

const SUMS = `terminal_id, intents, succeeded, canceled, called_off, payments, volume, tips,
  refunds, refunded`;
const DAY_FIELDS = `${SUMS}, settle_ms_median, settle_ms_p95, declines`;
const PART_FIELDS = `${SUMS}, settle_ms, declines`;
const READ_FIELDS = `${SUMS}, settle_ms::text as settle_ms, declines`;

export interface DayOf {
  readonly tenant: Tenant;
  /** Where the day begins and ends. */
  readonly shop: ShopDays;
  readonly day: string;
}

/** Returns the parameters $1 account, $2 mode, $3 start of the day and $4 start of the next. */
export function dayValues({ tenant, shop, day }: DayOf): unknown[] {
  const { since, until } = dayBounds(shop, day);
  return [tenant.accountId, tenant.livemode, since, until];
}

// SQL: rounds to three significant digits, which is all that is ever shown. So there are at most
// 900 distinct times per power of ten.
const THREE_DIGITS = `case when ms < 1000 then ms when ms < 10000 then ms / 10 * 10
  when ms < 100000 then ms / 100 * 100 else ms / 1000 * 1000 end`;

// SQL: the figures per hour ($1 account, $2 mode, $5 now) within the hours of a table named
// `spans`, by terminal and in total. Three range scans of list indexes per hour read only the
// hour's own rows. They are lateral, because a planner without statistics on `spans` would
// otherwise read whole tables. An unpaid, expired intent counts as canceled even before a worker
// has written that.
const COUNTED = `
  intents as (
    select s.hour, e.* from spans s cross join lateral (
      select terminal_id, sum(intents)::int as intents, sum(succeeded)::int as succeeded,
        sum(canceled)::int as canceled, sum(called_off)::int as called_off,
        jsonb_object_agg(code, intents) filter (where code is not null) as declines
      from (
        select coalesce(terminal_id, '') as terminal_id,
          last_payment_error ->> 'decline_code' as code, count(*)::int as intents,
          (count(*) filter (where status = 'succeeded'))::int as succeeded,
          (count(*) filter (where status = 'canceled'
            or (status = 'requires_payment_method' and expires_at <= $5)))::int as canceled,
          (count(*) filter (where cancellation_reason = 'requested_by_merchant'
            and last_payment_error is null))::int as called_off
        from payment_intents i
        where account_id = $1 and livemode = $2 and created >= s.hour and created < s.until
        group by grouping sets ((i.terminal_id, 2), (2))
      ) by_code group by terminal_id
    ) e
  ), paid as (
    select s.hour, p.* from spans s cross join lateral (
      select terminal_id, sum(payments)::int as payments, sum(volume)::bigint as volume,
        sum(tips)::bigint as tips, jsonb_object_agg(settle_ms, payments) as settle_ms
      from (
        select coalesce(p.terminal_id, '') as terminal_id, ${THREE_DIGITS} as settle_ms,
          count(*)::int as payments, sum(p.amount) as volume, sum(p.tip) as tips
        from payments p
        cross join lateral (
          select (extract(epoch from p.created - coalesce(i.tapped_at, i.created)) * 1000)::int
            as ms
          from payment_intents i where i.id = p.payment_intent_id
        ) took
        where p.account_id = $1 and p.livemode = $2 and p.created >= s.hour
          and p.created < s.until
        group by grouping sets ((p.terminal_id, 2), (2))
      ) by_time group by terminal_id
    ) p
  ), back as (
    select s.hour, r.* from spans s cross join lateral (
      select coalesce(p.terminal_id, '') as terminal_id, count(*)::int as refunds,
        sum(r.amount)::bigint as refunded
      from refunds r join payments p on p.id = r.payment_id
      where r.account_id = $1 and r.livemode = $2 and r.created >= s.hour and r.created < s.until
        and r.status = 'succeeded'
      group by grouping sets ((p.terminal_id), ())
    ) r where r.refunds > 0
  ), named as (
    select hour, terminal_id from intents union select hour, terminal_id from paid
    union select hour, terminal_id from back union select hour, '' from spans
  ), counted as (
    select t.hour, t.terminal_id, coalesce(i.intents, 0) as intents,
      coalesce(i.succeeded, 0) as succeeded, coalesce(i.canceled, 0) as canceled,
      coalesce(i.called_off, 0) as called_off,
      coalesce(p.payments, 0) as payments, coalesce(p.volume, 0)::bigint as volume,
      coalesce(p.tips, 0)::bigint as tips, coalesce(b.refunds, 0) as refunds,
      coalesce(b.refunded, 0)::bigint as refunded, coalesce(p.settle_ms, '{}') as settle_ms,
      coalesce(i.declines, '{}') as declines
    from named t
    left join intents i using (hour, terminal_id) left join paid p using (hour, terminal_id)
    left join back b using (hour, terminal_id)
  )`;

/**
 * Minutes after an hour's end until none of its intents can be open: intents live for at most 10
 * minutes, confirmations for one, and clocks differ by seconds.
 */
const OVER_FOR_MINUTES = 30;

/**
 * Stores the figures of the day's complete hours without open intents. Concurrent calls store the
 * same values. Each hour is checked by its own subquery (`limit 1`), because anti-joins read whole
 * tables here.
 */
export async function storeHours(sql: Sql, span: DayOf, now: Date): Promise<void> {
  await sql.query(
    `with ${HOURS}, spans as materialized (
       select hour, until from (select * from hours where ${overFor(OVER_FOR_MINUTES)} offset 0) h
       where (
         select true from statistics_hours k
         where k.account_id = $1 and k.livemode = $2 and k.hour = h.hour and k.terminal_id = ''
         limit 1
       ) is null and (
         select true from payment_intents
         where account_id = $1 and livemode = $2 and created >= h.hour and created < h.until
           and status in ('requires_payment_method', 'requires_action', 'processing')
         limit 1
       ) is null and (
         select true from refunds
         where account_id = $1 and livemode = $2 and created >= h.hour and created < h.until
           and status = 'pending'
         limit 1
       ) is null
     ), ${COUNTED}
     insert into statistics_hours (account_id, livemode, hour, ${PART_FIELDS})
     select $1, $2, hour, ${PART_FIELDS} from counted
     on conflict do nothing`,
    [...dayValues(span), now],
  );
}

/** Returns a day's figures so far: its stored hours, plus the rest counted now. */
export async function selectParts(sql: Sql, span: DayOf, now: Date): Promise<PartRow[]> {
  return sql.query<PartRow>(
    `with ${HOURS}, kept as materialized (
       select k.* from statistics_hours k
       where k.account_id = $1 and k.livemode = $2
         and k.hour >= (select min(hour) from hours) and k.hour < (select max(until) from hours)
         and k.hour in (select hour from hours)
     ), spans as materialized (
       select hour, until from hours h where not exists (
         select from kept where kept.hour = h.hour and kept.terminal_id = ''
       )
     ), ${COUNTED}
     select true as is_kept, ${READ_FIELDS} from kept
     union all select false, ${READ_FIELDS} from counted`,
    [...dayValues(span), now],
  );
}

/** Stores a complete day, and deletes its hours. */
export async function storeDay(sql: Sql, span: DayOf, rows: readonly DayRow[]): Promise<void> {
  const texts = rows.map(({ volume, tips, refunded, ...row }) => ({
    ...row,
    volume: String(volume),
    tips: String(tips),
    refunded: String(refunded),
  }));
  await sql.query(
    `with done as (
       delete from statistics_hours
       where account_id = $1 and livemode = $2 and ${HOURS_NO_LONGER_NEEDED}
     )
     insert into statistics_days (account_id, livemode, day, time_zone, ${DAY_FIELDS})
     select $1, $2, $5::date, $6::text, ${DAY_FIELDS} from jsonb_to_recordset($7::jsonb) as r (
       terminal_id text, intents integer, succeeded integer, canceled integer,
       called_off integer, payments integer, volume bigint, tips bigint, refunds integer,
       refunded bigint, settle_ms_median integer, settle_ms_p95 integer, declines jsonb)
     on conflict do nothing`,
    [...dayValues(span), span.day, span.shop.timeZone, JSON.stringify(texts)],
  );
}

export interface Span {
  readonly tenant: Tenant;
  readonly shop: ShopDays;
  readonly from: string;
  readonly to: string;
}

export async function selectStoredDays(sql: Sql, span: Span): Promise<DayRow[]> {
  return sql.query<DayRow>(
    `select day::text as day, ${DAY_FIELDS} from statistics_days
     where account_id = $1 and livemode = $2 and time_zone = $3
       and day >= $4 and day <= $5`,
    [span.tenant.accountId, span.tenant.livemode, span.shop.timeZone, span.from, span.to],
  );
}

/** Returns the time of the account's first intent in the mode; no row is older. `null` if none. */
export async function selectFirstCreated(sql: Sql, tenant: Tenant): Promise<Date | null> {
  const rows = await sql.query<{ created: Date }>(
    `select created from payment_intents
     where account_id = $1 and livemode = $2 order by created, position limit 1`,
    [tenant.accountId, tenant.livemode],
  );
  return rows[0]?.created ?? null;
}

export interface ReportRow {
  readonly terminal_id: string;
  readonly payments: number;
  readonly gross: bigint;
  readonly tips: bigint;
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

/** Returns a day's settled payments: a row per terminal, and a total without a terminal ID. */
export async function selectSettled(sql: Sql, span: DayOf): Promise<ReportRow[]> {
  return sql.query<ReportRow>(
    `select coalesce(terminal_id, '') as terminal_id, count(*)::int as payments,
       coalesce(sum(amount), 0)::bigint as gross,
       coalesce(sum(tip), 0)::bigint as tips,
       coalesce(sum(fee_acquirer), 0)::bigint as fee_acquirer,
       coalesce(sum(fee_protocol), 0)::bigint as fee_protocol,
       coalesce(sum(fee_cashback), 0)::bigint as fee_cashback
     from payments
     where account_id = $1 and livemode = $2
       and created >= $3 and created < $4
     group by grouping sets ((terminal_id), ()) order by 1`,
    dayValues(span),
  );
}

/** Returns a day's refunds and withdrawals, which left the balance. */
export async function selectPaidOut(sql: Sql, span: DayOf): Promise<DaySums> {
  const rows = await sql.query<DaySums>(
    `with back as (
       select count(*)::int as refunds, coalesce(sum(amount), 0)::bigint as refunded
       from refunds
       where account_id = $1 and livemode = $2 and created >= $3 and created < $4
         and status = 'succeeded'
     ), gone as (
       select count(*)::int as withdrawals, coalesce(sum(amount), 0)::bigint as withdrawn
       from withdrawals
       where account_id = $1 and livemode = $2 and created >= $3 and created < $4
         and status = 'succeeded'
     )
     select * from back, gone`,
    dayValues(span),
  );
  return rows[0] ?? { refunds: 0, refunded: 0n, withdrawals: 0, withdrawn: 0n };
}
