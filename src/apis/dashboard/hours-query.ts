/**
 * SQL: the hours of one day that have begun ($3 start of the day, $4 start of the next day, $5
 * now). The last hour may be shorter if clocks change by half an hour.
 */
export const HOURS = `
  hours as (
    select h as hour, least(h + interval '1 hour', $4::timestamptz) as until
    from generate_series(
      $3::timestamptz, $4::timestamptz - interval '1 millisecond', interval '1 hour') h
    where h <= $5::timestamptz
  )`;

/** SQL: the whole hours that ended at least this many minutes ago. */
export function overFor(minutes: number): string {
  return `until = hour + interval '1 hour'
    and until <= $5::timestamptz - interval '${minutes} minutes'`;
}

/**
 * SQL: stored hours that are obsolete once the day ($3 to $4) is stored: the day's own hours, and
 * leftovers from much earlier days. The hours of the preceding week stay, because its days may be
 * aggregated concurrently and would have to count each missing hour again.
 */
export const HOURS_NO_LONGER_NEEDED = `
  hour < $4::timestamptz and (
    hour >= $3::timestamptz or hour < $3::timestamptz - interval '168 hours')`;
