/**
 * SQL: the hours of one day that have begun ($3 start of the day, $4 start of the next day, $5
 * now). If clocks change by half an hour, the last hour is shorter.
 */
export const HOURS = `
  hours as (
    select h as hour, least(h + interval '1 hour', $4::timestamptz) as until
    from generate_series(
      $3::timestamptz, $4::timestamptz - interval '1 millisecond', interval '1 hour') h
    where h <= $5::timestamptz
  )`;

/** SQL: true for whole hours that ended at least this many minutes ago. */
export function overFor(minutes: number): string {
  return `until = hour + interval '1 hour'
    and until <= $5::timestamptz - interval '${minutes} minutes'`;
}

/**
 * SQL: stored hours that can be deleted once the day ($3 to $4) is stored: its own hours, and
 * leftovers of much older days. Hours of the preceding week stay: those days may be added up
 * concurrently, and missing hours would have to be counted again.
 */
export const HOURS_NO_LONGER_NEEDED = `
  hour < $4::timestamptz and (
    hour >= $3::timestamptz or hour < $3::timestamptz - interval '168 hours')`;

/** Number of days that are read concurrently: few, so that the database has capacity for others. */
const AT_ONCE = 4;

export async function readFewAtOnce<Row>(
  days: readonly string[],
  read: (day: string) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let at = 0; at < days.length; at += AT_ONCE) {
    const results = await Promise.all(days.slice(at, at + AT_ONCE).map(read));
    rows.push(...results.flat());
  }
  return rows;
}
