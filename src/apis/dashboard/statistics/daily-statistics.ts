import { selectShopDays } from '#accounts/shop-days.ts';
import { readFewAtOnce } from '#apis/dashboard/statistics/statistics-hours.ts';
import {
  type DayOf,
  type DayRow,
  type DaySums,
  type ReportRow,
  type Span,
  selectFirstCreated,
  selectPaidOut,
  selectParts,
  selectSettled,
  selectStoredDays,
  storeDay,
  storeHours,
} from '#apis/dashboard/statistics/statistics-queries.ts';
import { sumParts } from '#apis/dashboard/statistics/sum-hourly-statistics.ts';
import { dayIn } from '#core/calendar.ts';
import { daysBetween } from '#core/check-day-range.ts';
import type { Tenant } from '#core/mode.ts';
import { accountTime } from '#db/commit-order.ts';
import type { Database } from '#db/database.ts';

async function readDay(db: Database, span: DayOf, now: Date): Promise<DayRow[]> {
  await storeHours(db, span, now);
  const parts = await selectParts(db.standby, span, now);
  const rows = sumParts(span.day, parts);
  const isOver = span.day < dayIn(span.shop, now);
  if (isOver && parts.every((part) => part.is_kept)) await storeDay(db, span, rows);
  return rows;
}

/**
 * Returns figures by day and terminal. Complete days, and the complete hours of other days, are
 * computed once and stored.
 */
export async function readStatistics(
  db: Database,
  span: Omit<Span, 'shop'>,
  at: Date,
): Promise<DayRow[]> {
  const { tenant } = span;
  const shop = await selectShopDays(db, tenant);
  const input = { ...span, shop };
  const now = await accountTime(db, tenant, at);
  const stored = await selectStoredDays(db.standby, input);
  const known = new Set(stored.map((row) => row.day));
  const created = await selectFirstCreated(db.standby, tenant);
  const first = created === null ? null : dayIn(shop, created);
  const today = dayIn(shop, now);
  const missing = daysBetween(input.from, input.to).filter(
    (day) => !known.has(day) && first !== null && day >= first && day <= today,
  );
  const counted = await readFewAtOnce(missing, (day) => readDay(db, { tenant, shop, day }, now));
  return [...stored, ...counted].sort((a, b) =>
    `${a.day} ${a.terminal_id}` < `${b.day} ${b.terminal_id}` ? -1 : 1,
  );
}

/** Returns one day's additions to the balance, by terminal, and its deductions. */
export async function readReport(
  db: Database,
  { tenant, day }: { readonly tenant: Tenant; readonly day: string },
): Promise<{ readonly lines: ReportRow[]; readonly out: DaySums }> {
  const input = { tenant, day, shop: await selectShopDays(db, tenant) };
  const [lines, out] = await Promise.all([
    selectSettled(db.standby, input),
    selectPaidOut(db.standby, input),
  ]);
  return { lines, out };
}
