import { addMs } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import { type Refusal, refuse } from '#core/refusal.ts';
import {
  type DayRow,
  hasOpenWork,
  selectFigures,
  selectFirstDay,
  selectStoredDays,
  storeFigures,
} from '#dashboard/statistics-queries.ts';
import type { Database } from '#db/database.ts';

const DAY_MS = 86_400_000;
/** A year and a day, so that the same day of two years can be compared. */
const MAX_DAYS = 367;
/** Intents live at most 10 minutes and confirmations one: by then nearly everything has ended. */
const SETTLED_AFTER_MS = 2 * 3_600_000;
/** Days computed at the same time; the database has other work. */
const AT_ONCE = 4;

export function dayOf(at: Date): string {
  return at.toISOString().slice(0, 10);
}

function startOf(day: string): Date {
  return new Date(`${day}T00:00:00.000Z`);
}

/** Whether it is a day of the calendar, spelled YYYY-MM-DD. */
export function isDay(text: string): boolean {
  const at = startOf(text);
  return !Number.isNaN(at.getTime()) && dayOf(at) === text;
}

export function daysBetween(from: string, to: string): string[] {
  const count = Math.round((startOf(to).getTime() - startOf(from).getTime()) / DAY_MS) + 1;
  return Array.from({ length: Math.max(0, count) }, (_, i) =>
    dayOf(addMs(startOf(from), i * DAY_MS)),
  );
}

export function checkDays(from: string, to: string): Refusal | null {
  for (const [name, day] of Object.entries({ from, to })) {
    if (!isDay(day)) return refuse('parameter_invalid', `${name} is not a day, YYYY-MM-DD.`, name);
  }
  if (from > to) return refuse('parameter_invalid', 'from is after to.', 'from');
  if (daysBetween(from, to).length <= MAX_DAYS) return null;
  return refuse('parameter_invalid', `At most ${MAX_DAYS} days at a time.`, 'from');
}

async function readDay(
  db: Database,
  of: { readonly tenant: Tenant; readonly day: string },
  now: Date,
): Promise<DayRow[]> {
  const end = addMs(startOf(of.day), DAY_MS + SETTLED_AFTER_MS);
  if (end <= now && !(await hasOpenWork(db, of))) await storeFigures(db, of, now);
  return selectFigures(db, of, now);
}

/**
 * Figures by day and terminal. Days that are over are computed once and then read; today, and a
 * day on which something is still open, are computed anew.
 */
export async function readStatistics(
  db: Database,
  of: { readonly tenant: Tenant; readonly from: string; readonly to: string },
  now: Date,
): Promise<DayRow[]> {
  const { tenant } = of;
  const stored = await selectStoredDays(db, of);
  const known = new Set(stored.map((row) => row.day));
  const first = await selectFirstDay(db, tenant);
  const missing = daysBetween(of.from, of.to).filter(
    (day) => !known.has(day) && first !== null && day >= first && day <= dayOf(now),
  );
  const rows = [...stored];
  for (let at = 0; at < missing.length; at += AT_ONCE) {
    const group = missing.slice(at, at + AT_ONCE);
    const found = await Promise.all(group.map((day) => readDay(db, { tenant, day }, now)));
    rows.push(...found.flat());
  }
  return rows.sort((a, b) => (`${a.day} ${a.terminal_id}` < `${b.day} ${b.terminal_id}` ? -1 : 1));
}
