const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** What a clock on the wall shows in the zone, read as if it were UTC. */
function wallTime(at: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const part = (type: string) => Number(parts.find((found) => found.type === type)?.value);
  return Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
}

/** The first moment of a day, as the API takes it; undefined while no day is chosen. */
export function dayStart(day: string | undefined, timeZone: string): string | undefined {
  const midnight = Date.parse(`${day ?? ''}T00:00:00.000Z`);
  if (Number.isNaN(midnight)) return undefined;
  const first = midnight - (wallTime(midnight, timeZone) - midnight);
  // Between the guess and the day the clocks may have changed: once more from the guess.
  const second = midnight - (wallTime(first, timeZone) - first);
  // Where clocks skip midnight, the day begins when they do: no later than the first minute there.
  const start = wallTime(second, timeZone) < midnight ? Math.max(first, second) : second;
  return new Date(Math.floor(start / MINUTE_MS) * MINUTE_MS).toISOString();
}

/** So many days after a day; before it, if there are less than none. */
export function later(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** The first moment after a day. */
export function dayEnd(day: string | undefined, timeZone: string): string | undefined {
  if (dayStart(day, timeZone) === undefined) return undefined;
  return dayStart(later(day ?? '', 1), timeZone);
}

/** `2026-11-20`, so many days before today. */
export function dayBefore(days: number, timeZone: string, now: number = Date.now()): string {
  const today = new Date(wallTime(now, timeZone)).toISOString().slice(0, 10);
  return later(today, -days);
}
