import { type Refusal, refuse } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { DAY_MS } from '#core/durations.ts';

/** Functions for calendar days, written YYYY-MM-DD. `calendar.ts` converts days to instants. */

/**
 * Maximum number of days in a range: a year and a day, so that it can include the same day of two
 * years.
 */
const MAX_DAYS = 367;

function startOf(day: string): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

/** Returns 00:00 UTC of the day, which is when daily limits start to count. */
export function startOfUtcDay(now: Date): Date {
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
}

export function isDay(text: string): boolean {
  const at = startOf(text);
  return !Number.isNaN(at.getTime()) && at.toISOString().slice(0, 10) === text;
}

export function daysBetween(from: string, to: string): string[] {
  const count = Math.round((startOf(to).getTime() - startOf(from).getTime()) / DAY_MS) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) =>
    addMs(startOf(from), i * DAY_MS)
      .toISOString()
      .slice(0, 10),
  );
}

/** True for a month, `YYYY-MM`. */
export function isMonth(text: string): boolean {
  return /^\d{4}-\d{2}$/.test(text) && isDay(`${text}-01`);
}

/** An omitted day is no bound. */
export function checkOrder(input: {
  readonly from?: string;
  readonly to?: string;
}): Refusal | null {
  const { from, to } = input;
  for (const [name, day] of Object.entries({ from, to })) {
    if (day === undefined || isDay(day)) continue;
    return refuse('parameter_invalid', `${name} must be a date in the form YYYY-MM-DD.`, name);
  }
  if (from === undefined || to === undefined || from <= to) return null;
  return refuse('parameter_invalid', 'from must not be after to.', 'from');
}

export function checkDays(from: string, to: string, most = MAX_DAYS): Refusal | null {
  const wrong = checkOrder({ from, to });
  if (wrong !== null) return wrong;
  if (daysBetween(from, to).length <= most) return null;
  return refuse('parameter_invalid', `Request at most ${most} days at a time.`, 'from');
}
