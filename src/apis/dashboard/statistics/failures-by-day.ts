import { selectShopDays } from '#accounts/shop-days.ts';
import {
  type CallsRow,
  selectCalls,
  selectStoredCalls,
  storeCallHours,
  storeCalls,
} from '#apis/dashboard/statistics/health-queries.ts';
import { readFewAtOnce } from '#apis/dashboard/statistics/statistics-hours.ts';
import type { DayOf, Span } from '#apis/dashboard/statistics/statistics-queries.ts';
import { dayIn } from '#core/calendar.ts';
import { daysBetween } from '#core/check-day-range.ts';
import { addMs } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import {
  type DeliveriesRow,
  selectDeliveryDays,
  storeDeliveryDays,
} from '#webhooks/count-deliveries-by-day.ts';

/** Time after which an event is certainly committed and queued for its endpoints. */
const WRITTEN_AFTER_MS = 600_000;

export interface HealthDay extends CallsRow {
  readonly delivered: number;
  readonly undelivered: number;
}

async function readCallsOf(db: Database, span: DayOf, now: Date): Promise<CallsRow[]> {
  await storeCallHours(db, span, now);
  const rows = await selectCalls(db.standby, span, now);
  const isOver = span.day < dayIn(span.shop, now);
  return Promise.all(
    rows.map(async ({ is_kept: isKept, ...row }) => {
      if (isOver && isKept) await storeCalls(db, span, row);
      return row;
    }),
  );
}

async function readCalls(db: Database, span: Span, now: Date): Promise<Map<string, CallsRow>> {
  const { tenant, shop } = span;
  const stored = await selectStoredCalls(db.standby, span);
  const rows = new Map(stored.map((row) => [row.day, row]));
  const today = dayIn(shop, now);
  const missing = daysBetween(span.from, span.to).filter((day) => !rows.has(day) && day <= today);
  const read = (day: string) => readCallsOf(db, { tenant, shop, day }, now);
  for (const row of await readFewAtOnce(missing, read)) rows.set(row.day, row);
  return rows;
}

async function readDeliveries(db: Database, span: Span, now: Date): Promise<DeliveriesRow[]> {
  const rows = await selectDeliveryDays(db.standby, span);
  const written = addMs(now, -WRITTEN_AFTER_MS);
  const isOver = (day: string) => day < dayIn(span.shop, written);
  if (rows.some((row) => !row.is_kept && isOver(row.day))) {
    await storeDeliveryDays(db, span, written);
  }
  return rows;
}

/**
 * Returns how many API calls and deliveries to the merchant's receivers failed, by day. Days are in
 * real time, even in test mode, where a clock may be ahead. Days without calls and deliveries are
 * omitted.
 */
export async function readHealth(
  db: Database,
  span: Omit<Span, 'shop'>,
  now: Date,
): Promise<HealthDay[]> {
  const input = { ...span, shop: await selectShopDays(db, span.tenant) };
  const [calls, deliveries] = await Promise.all([
    readCalls(db, input, now),
    readDeliveries(db, input, now),
  ]);
  return deliveries
    .map(({ day, delivered, undelivered }) => {
      const none = { day, requests: 0, refused: 0, failed: 0 };
      return { ...(calls.get(day) ?? none), delivered, undelivered };
    })
    .filter(({ requests, delivered, undelivered }) => requests + delivered + undelivered > 0);
}
