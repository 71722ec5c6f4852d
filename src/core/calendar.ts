import { DAY_MS, HOUR_MS, SECOND_MS } from '#core/durations.ts';
import { RecentMap } from '#core/size-limited-map.ts';

/**
 * Converts days of a time zone to instants, using the runtime's own zone database. The server, its
 * exports and the web apps all use these functions. SQL receives instants, because PostgreSQL's
 * zone database may be older or newer.
 */

/** More than the largest offset from UTC (14 hours, on Kiritimati). */
const MAX_OFFSET_MS = 16 * HOUR_MS;

/**
 * Cached by zone, because creating a formatter costs more than a thousand conversions. There are
 * only about 600 zones, but Intl accepts their names in any case.
 */
const clocks = new RecentMap<Intl.DateTimeFormat>(1_000);

function clockOf(timeZone: string): Intl.DateTimeFormat {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-u-ca-iso8601-nu-latn', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  clocks.set(timeZone, made);
  return made;
}

/** Returns the local time in the zone, in whole seconds, as if it were UTC. */
export function wallTime(timeZone: string, at: number): number {
  const fields = { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of clockOf(timeZone).formatToParts(at)) {
    if (type in fields) fields[type as keyof typeof fields] = Number(value);
  }
  const { year, month, day, hour, minute, second } = fields;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/**
 * Returns the local time with its offset, such as `2026-11-20T14:00:21+01:00`. The offset
 * distinguishes the two hours that look the same when clocks are set back.
 */
export function localTime(timeZone: string, at: Date): string {
  const wall = wallTime(timeZone, at.getTime());
  const offset = Math.round((wall - Math.floor(at.getTime() / SECOND_MS) * SECOND_MS) / 60_000);
  const pad = (number: number) => String(number).padStart(2, '0');
  const [sign, size] = [offset < 0 ? '-' : '+', Math.abs(offset)];
  const clock = new Date(wall).toISOString().slice(0, 19);
  return `${clock}${sign}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

/** Returns the local day at this instant, `YYYY-MM-DD`. */
export function dayIn(timeZone: string, at: Date): string {
  return new Date(wallTime(timeZone, at.getTime())).toISOString().slice(0, 10);
}

/** Returns the day that is `days` days after this one, or before it if negative. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Whole days, both included. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** Returns the first and the last day of a month, which is written `YYYY-MM`. */
export function daysOfMonth(month: string): Days {
  const last = new Date(`${month}-01T00:00:00.000Z`);
  last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return { from: `${month}-01`, to: last.toISOString().slice(0, 10) };
}

export type Every = 'day' | 'week' | 'month';

/** Returns the period that contains a day: the day itself, its week (from Monday), or its month. */
function periodOf(every: Every, day: string): Days {
  if (every === 'day') return { from: day, to: day };
  if (every === 'month') return daysOfMonth(day.slice(0, 7));
  const sinceMonday = (new Date(`${day}T00:00:00.000Z`).getUTCDay() + 6) % 7;
  const from = dayAfter(day, -sinceMonday);
  return { from, to: dayAfter(from, 6) };
}

/** Returns the last period that ended before today. */
export function lastPeriod(every: Every, today: string): Days {
  return periodOf(every, dayAfter(periodOf(every, today).from, -1));
}

/** Returns the instant at which the period that contains a day ends and the next one starts. */
export function nextPeriodStart(timeZone: string, every: Every, day: string): Date {
  return dayStart(timeZone, dayAfter(periodOf(every, day).to, 1));
}

/**
 * Returns the first instant of a day. If the clocks skip midnight, the day begins when they change;
 * if midnight occurs twice, the day begins at the first one.
 */
export function dayStart(timeZone: string, day: string): Date {
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const hasBegun = (at: number) => wallTime(timeZone, at) >= midnight;
  const guess = midnight - (wallTime(timeZone, midnight) - midnight);
  if (hasBegun(guess) && !hasBegun(guess - SECOND_MS)) return new Date(guess);
  // The clocks change on that day, so search for the second in which the day begins.
  let before = midnight - MAX_OFFSET_MS;
  let since = midnight + MAX_OFFSET_MS;
  while (since - before > SECOND_MS) {
    const middle = before + Math.floor((since - before) / (2 * SECOND_MS)) * SECOND_MS;
    if (hasBegun(middle)) since = middle;
    else before = middle;
  }
  return new Date(since);
}

export interface DayBounds {
  readonly since: Date;
  /** The first instant after it. */
  readonly until: Date;
}

/** Returns the instants at which day `from` starts and day `to` ends. */
export function dayBounds(timeZone: string, from: string, to: string = from): DayBounds {
  return { since: dayStart(timeZone, from), until: dayStart(timeZone, dayAfter(to, 1)) };
}

/**
 * Matches IANA zone names in their canonical spelling. Intl also accepts offsets, and any mix of
 * upper and lower case.
 */
const NAME = /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)*$/;

/** True if the name is a time zone in which days can be computed. */
export function isTimeZone(name: string): boolean {
  if (!NAME.test(name)) return false;
  try {
    return clockOf(name).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
