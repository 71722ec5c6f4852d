import * as calendar from '#core/calendar.ts';

/** Returns the start of a day as an API timestamp, or `undefined` if no day is chosen. */
export function dayStart(day: string | undefined, zone: calendar.Zone): string | undefined {
  if (day === undefined || Number.isNaN(Date.parse(`${day}T00:00:00.000Z`))) return undefined;
  return calendar.dayStart(zone, day).toISOString();
}

/** Returns the start of the following day. */
export function dayEnd(day: string | undefined, zone: calendar.Zone): string | undefined {
  if (dayStart(day, zone) === undefined) return undefined;
  return dayStart(later(day ?? '', 1), zone);
}

/** Adds days to a day; a negative number subtracts. */
export const later = calendar.dayAfter;

/** Returns the day that was `days` days before today, for example `2026-11-20`. */
export function dayBefore(days: number, zone: calendar.Zone, now: number = Date.now()): string {
  return later(calendar.dayIn(zone, new Date(now)), -days);
}
