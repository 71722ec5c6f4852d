import { DAY_MS, HOUR_MS, SECOND_MS } from '#core/durations.ts';

/**
 * Days of a time zone as moments, by the runtime's own database of zones. The server, its exports
 * and the web apps all count by these functions, and SQL receives moments: PostgreSQL has a zone
 * database of its own, which may be older or newer.
 */

/** No zone is further from UTC: Kiritimati is 14 hours ahead. */
const MAX_OFFSET_MS = 16 * HOUR_MS;

/** A formatter costs more than a thousand moments; there are about 600 names of zones. */
const clocks = new Map<string, Intl.DateTimeFormat>();

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

/** What a clock on the wall shows in the zone, read as if it were UTC; whole seconds. */
export function wallTime(timeZone: string, at: number): number {
  const fields = { year: 0, month: 1, day: 1, hour: 0, minute: 0, second: 0 };
  for (const { type, value } of clockOf(timeZone).formatToParts(at)) {
    if (type in fields) fields[type as keyof typeof fields] = Number(value);
  }
  const { year, month, day, hour, minute, second } = fields;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** `2026-11-20T14:00:21+01:00`: an hour exists twice in autumn, and the offset tells them apart. */
export function localTime(timeZone: string, at: Date): string {
  const wall = wallTime(timeZone, at.getTime());
  const offset = Math.round((wall - Math.floor(at.getTime() / SECOND_MS) * SECOND_MS) / 60_000);
  const pad = (number: number) => String(number).padStart(2, '0');
  const [sign, size] = [offset < 0 ? '-' : '+', Math.abs(offset)];
  const clock = new Date(wall).toISOString().slice(0, 19);
  return `${clock}${sign}${pad(Math.floor(size / 60))}:${pad(size % 60)}`;
}

/** The day that it is at this moment, `YYYY-MM-DD`. */
export function dayIn(timeZone: string, at: Date): string {
  return new Date(wallTime(timeZone, at.getTime())).toISOString().slice(0, 10);
}

/** The day so many days after another; before it, if there are less than none. */
export function dayAfter(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/**
 * The first moment of a day. Where clocks skip midnight, the day begins when they do; where
 * midnight comes twice, it begins at the first one.
 */
export function dayStart(timeZone: string, day: string): Date {
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const hasBegun = (at: number) => wallTime(timeZone, at) >= midnight;
  const guess = midnight - (wallTime(timeZone, midnight) - midnight);
  if (hasBegun(guess) && !hasBegun(guess - SECOND_MS)) return new Date(guess);
  // The clocks change that day: look for the second in which the day begins.
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
  /** The first moment that is no longer part of it. */
  readonly until: Date;
}

/** From the start of a day to the end of another, or of the same. */
export function dayBounds(timeZone: string, from: string, to: string = from): DayBounds {
  return { since: dayStart(timeZone, from), until: dayStart(timeZone, dayAfter(to, 1)) };
}

/** IANA names, spelled as in its list. Intl also takes offsets and any mix of cases. */
const NAME = /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)*$/;

/** Whether days can be counted in the zone. */
export function isTimeZone(name: string): boolean {
  if (!NAME.test(name)) return false;
  try {
    return clockOf(name).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
