/**
 * The hours of one day that have begun ($3 day, $4 zone, $5 now), from the day's first moment on.
 * The last hour of a day may be cut short where clocks change by half an hour.
 */
export const HOURS = `
  hours as (
    select h as hour, least(h + interval '1 hour', b.until) as until
    from (
      select ($3::date)::timestamp at time zone $4::text as since,
        ($3::date + 1)::timestamp at time zone $4::text as until
    ) b
    cross join lateral
      generate_series(b.since, b.until - interval '1 millisecond', interval '1 hour') h
    where h <= $5::timestamptz
  )`;

/** Of those hours the whole ones that were over so many minutes ago. */
export function overFor(minutes: number): string {
  return `until = hour + interval '1 hour'
    and until <= $5::timestamptz - interval '${minutes} minutes'`;
}
