import * as calendar from '#core/calendar.ts';

/** The first moment of a day, as the API takes it; undefined while no day is chosen. */
export function dayStart(day: string | undefined, timeZone: string): string | undefined {
  if (day === undefined || Number.isNaN(Date.parse(`${day}T00:00:00.000Z`))) return undefined;
  return calendar.dayStart(timeZone, day).toISOString();
}

/** The first moment after a day. */
export function dayEnd(day: string | undefined, timeZone: string): string | undefined {
  if (dayStart(day, timeZone) === undefined) return undefined;
  return dayStart(later(day ?? '', 1), timeZone);
}

/** So many days after a day; before it, if there are less than none. */
export const later = calendar.dayAfter;

/** `2026-11-20`, so many days before today. */
export function dayBefore(days: number, timeZone: string, now: number = Date.now()): string {
  return later(calendar.dayIn(timeZone, new Date(now)), -days);
}
