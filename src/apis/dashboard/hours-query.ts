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

/** The whole hours that were over so many minutes ago. */
export function overFor(minutes: number): string {
  return `until = hour + interval '1 hour'
    and until <= $5::timestamptz - interval '${minutes} minutes'`;
}

/**
 * Kept hours that nobody needs any more once the day ($3, zone $4) is kept: its own, and what was
 * left of days long before it. Those of the days right before it are not among them: they are
 * counted at the same time, and each missing hour would be counted again.
 */
export const HOURS_NO_LONGER_NEEDED = `
  hour < ($3::date + 1)::timestamp at time zone $4::text and (
    hour >= ($3::date)::timestamp at time zone $4::text
    or hour < ($3::date - 7)::timestamp at time zone $4::text)`;
