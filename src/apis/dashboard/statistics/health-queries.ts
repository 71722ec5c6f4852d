import {
  HOURS,
  HOURS_NO_LONGER_NEEDED,
  overFor,
} from '#apis/dashboard/statistics/statistics-hours.ts';
import { type DayOf, dayValues, type Span } from '#apis/dashboard/statistics/statistics-queries.ts';
import type { Sql } from '#db/database.ts';

/** Calls of an account's servers to the merchant API on one day. */
export interface CallsRow {
  readonly day: string;
  readonly requests: number;
  /** Responses with a 4xx status, and with a 5xx status. */
  readonly refused: number;
  readonly failed: number;
}

export interface CallsNow extends CallsRow {
  /** True if all hours of the day are stored. */
  readonly is_kept: boolean;
}

// SQL: the calls per hour ($1 account, $2 mode) within the hours of a table named `spans`. Counts
// only calls of the merchant's servers, because calls of people and tills, which are logged too, do
// not show how the integration works.
const COUNTED = `
  counted as (
    select s.hour, c.* from spans s cross join lateral (
      select count(*)::int as requests,
        (count(*) filter (where status between 400 and 499))::int as refused,
        (count(*) filter (where status >= 500))::int as failed
      from request_log
      where account_id = $1 and livemode = $2 and path like '/api/v1/%'
        and created >= s.hour and created < s.until
    ) c
  )`;

/** The log is written after responses. It is complete this many minutes after an hour's end. */
const WRITTEN_AFTER_MINUTES = 10;

/** Stores the counts of the day's complete hours. Concurrent calls store the same values. */
export async function storeCallHours(sql: Sql, span: DayOf, now: Date): Promise<void> {
  await sql.query(
    `with ${HOURS}, spans as materialized (
       select hour, until from hours h where ${overFor(WRITTEN_AFTER_MINUTES)} and (
         select true from health_hours k
         where k.account_id = $1 and k.livemode = $2 and k.hour = h.hour
         limit 1
       ) is null
     ), ${COUNTED}
     insert into health_hours (account_id, livemode, hour, requests, refused, failed)
     select $1, $2, hour, requests, refused, failed from counted
     on conflict do nothing`,
    [...dayValues(span), now],
  );
}

/** Returns a day's counts so far: its stored hours, plus the rest counted now. */
export async function selectCalls(sql: Sql, span: DayOf, now: Date): Promise<CallsNow[]> {
  return sql.query(
    `with ${HOURS}, kept as materialized (
       select k.hour, requests, refused, failed from health_hours k join hours h using (hour)
       where k.account_id = $1 and k.livemode = $2
     ), spans as materialized (
       select hour, until from hours where hour not in (select hour from kept)
     ), ${COUNTED}
     select $6::text as day, coalesce(sum(requests), 0)::int as requests,
       coalesce(sum(refused), 0)::int as refused, coalesce(sum(failed), 0)::int as failed,
       coalesce(bool_and(is_kept), false) as is_kept
     from (
       select requests, refused, failed, true as is_kept from kept
       union all select requests, refused, failed, false from counted
     ) c`,
    [...dayValues(span), now, span.day],
  );
}

/** Stores a complete day, and deletes its hours. */
export async function storeCalls(sql: Sql, span: DayOf, calls: CallsRow): Promise<void> {
  await sql.query(
    `with done as (
       delete from health_hours
       where account_id = $1 and livemode = $2 and ${HOURS_NO_LONGER_NEEDED}
     )
     insert into health_days (account_id, livemode, day, time_zone, requests, refused, failed)
     values ($1, $2, $5::date, $6::text, $7, $8, $9)
     on conflict do nothing`,
    [
      ...[...dayValues(span), span.day, span.shop.timeZone],
      ...[calls.requests, calls.refused, calls.failed],
    ],
  );
}

export async function selectStoredCalls(sql: Sql, span: Span): Promise<CallsRow[]> {
  return sql.query(
    `select day::text as day, requests, refused, failed from health_days
     where account_id = $1 and livemode = $2 and time_zone = $3 and day >= $4 and day <= $5`,
    [span.tenant.accountId, span.tenant.livemode, span.shop.timeZone, span.from, span.to],
  );
}
