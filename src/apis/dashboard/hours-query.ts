/**
 * The hours of one day that have begun ($3 the day's first moment, $4 the next day's, $5 now).
 * The last hour of a day may be cut short where clocks change by half an hour.
 */
export const HOURS = `
  hours as (
    select h as hour, least(h + interval '1 hour', $4::timestamptz) as until
    from generate_series(
      $3::timestamptz, $4::timestamptz - interval '1 millisecond', interval '1 hour') h
    where h <= $5::timestamptz
  )`;

/** The whole hours that were over so many minutes ago. */
export function overFor(minutes: number): string {
  return `until = hour + interval '1 hour'
    and until <= $5::timestamptz - interval '${minutes} minutes'`;
}

/**
 * Kept hours that are no longer needed once the day ($3 to $4) is kept: its own, and those left
 * from days long before it. The days right before it are spared: they are counted at the same
 * time, and each missing hour would be counted again.
 */
export const HOURS_NO_LONGER_NEEDED = `
  hour < $4::timestamptz and (
    hour >= $3::timestamptz or hour < $3::timestamptz - interval '168 hours')`;
