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

/** The local time at which days start, from one day on. */
export interface DayStartRule {
  /** `YYYY-MM-DD`, the first day that starts at this time. */
  readonly from: string;
  /** `HH:MM`, from 00:00 to 11:59. */
  readonly at: string;
}

/** A time zone, and when a shop's days start in it. Before the first rule they start at 00:00. */
export interface ShopDays {
  readonly timeZone: string;
  /** The oldest first. */
  readonly starts: readonly DayStartRule[];
}

/** Since when an account's days start at which time. Each mode has its own clock and days. */
export interface DayStarts {
  /** The newest setting, `HH:MM`. */
  readonly at: string;
  readonly test: readonly DayStartRule[];
  readonly live: readonly DayStartRule[];
}

/** An account's columns about days. `day_starts` is `null` while days have started at 00:00. */
export interface DaySettings {
  readonly time_zone: string;
  readonly day_starts: DayStarts | null;
}

/** Returns when an account's days start in a mode. */
export function shopDays(
  { time_zone: timeZone, day_starts: starts }: DaySettings,
  livemode: boolean,
): ShopDays {
  return { timeZone, starts: (livemode ? starts?.live : starts?.test) ?? [] };
}

/** A time zone's name alone has days that start at 00:00. */
export type Zone = string | ShopDays;

export const MIDNIGHT = '00:00';

function zoneName(zone: Zone): string {
  return typeof zone === 'string' ? zone : zone.timeZone;
}

/** Returns the local time, `HH:MM`, at which a day starts. */
function startTime(zone: Zone, day: string): string {
  if (typeof zone === 'string') return MIDNIGHT;
  return zone.starts.findLast(({ from }) => from <= day)?.at ?? MIDNIGHT;
}

/**
 * Returns the rules after a change of the time at which days start. Days that have started keep
 * their start, so the change holds from the next start that is still to come.
 */
export function withDayStart(zone: ShopDays, at: string, now: Date): readonly DayStartRule[] {
  const today = dayIn(zone, now);
  const next = (days: number) => dayAfter(today, days);
  const isToCome = (day: string) => dayStart({ ...zone, starts: [{ from: day, at }] }, day) > now;
  const from = isToCome(next(1)) ? next(1) : next(2);
  const before = zone.starts.filter((rule) => rule.from < from);
  return (before.at(-1)?.at ?? MIDNIGHT) === at ? before : [...before, { from, at }];
}

/** Returns the shop's day at this instant, `YYYY-MM-DD`. */
export function dayIn(zone: Zone, at: Date): string {
  const local = new Date(wallTime(zoneName(zone), at.getTime())).toISOString().slice(0, 10);
  if (typeof zone === 'string' || zone.starts.length === 0) return local;
  return at < dayStart(zone, local) ? dayAfter(local, -1) : local;
}

/**
 * Returns a function like `dayIn` for many instants in order. It computes a day's bounds once.
 */
export function daysInOrder(zone: Zone): (at: Date) => string {
  let known = { day: '', since: new Date(0), until: new Date(0) };
  return (at) => {
    if (at < known.since || at >= known.until) {
      const day = dayIn(zone, at);
      known = { day, ...dayBounds(zone, day) };
    }
    return known.day;
  };
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
export function nextPeriodStart(zone: Zone, every: Every, day: string): Date {
  return dayStart(zone, dayAfter(periodOf(every, day).to, 1));
}

/**
 * Returns the first instant of a day. If the clocks skip the time at which it starts, the day
 * begins when they change; if that time occurs twice, the day begins at the first one.
 */
export function dayStart(zone: Zone, day: string): Date {
  const timeZone = zoneName(zone);
  const start = Date.parse(`${day}T${startTime(zone, day)}:00.000Z`);
  const offsetAt = (at: number) => wallTime(timeZone, at) - at;
  const around = [start - MAX_OFFSET_MS, start + MAX_OFFSET_MS].map(offsetAt);
  const found = around
    .map((offset) => start - offset)
    .filter((at) => wallTime(timeZone, at) === start);
  if (found.length > 0) return new Date(Math.min(...found));
  // The clocks skip that time, so search for the second in which they do.
  const hasBegun = (at: number) => wallTime(timeZone, at) >= start;
  let before = start - MAX_OFFSET_MS;
  let since = start + MAX_OFFSET_MS;
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
export function dayBounds(zone: Zone, from: string, to: string = from): DayBounds {
  return { since: dayStart(zone, from), until: dayStart(zone, dayAfter(to, 1)) };
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
