import type { Section } from '#apis/dashboard/organizations/organization-sections.ts';
import {
  type Reported,
  selectReportedRefunds,
  selectReportedSales,
  selectReportMark,
} from '#apis/dashboard/reports/sales-report-queries.ts';
import {
  addTally,
  emptyTally,
  type Grouping,
  isByLine,
  SalesTally,
  type Tally,
} from '#apis/dashboard/reports/sales-tally.ts';
import { type Days, dayAfter, dayBounds, dayIn, type ShopDays } from '#core/calendar.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Tenant } from '#core/mode.ts';
import { accountTime, tenantKey } from '#db/commit-order.ts';
import type { Sql } from '#db/database.ts';
import type { Place } from '#db/paging.ts';

/** Few enough that a tap waits for a few milliseconds at most while the rows are added up. */
const PAGE = 500;

/** Reads pages in order. It asks for the next page before the caller has processed this one. */
async function* pagesOf<Row extends Place>(
  { since }: Reported,
  read: (page: { readonly after: Place; readonly limit: number }) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  let next = read({ after: { created: since, position: -1n }, limit: PAGE });
  for (;;) {
    const rows = await next;
    const last = rows.at(-1);
    if (last === undefined) return;
    const isLast = rows.length < PAGE;
    if (!isLast) {
      next = read({ after: last, limit: PAGE });
      // A page that fails while the caller works is reported when it is awaited.
      next.catch(() => {});
    }
    yield rows;
    if (isLast) return;
  }
}

async function countRows(
  sql: Sql,
  input: Reported,
  { groupBy, shop }: { readonly groupBy: readonly Grouping[]; readonly shop: ShopDays },
): Promise<Tally> {
  const counted = new SalesTally(groupBy, shop);
  for await (const sales of pagesOf(input, (page) => selectReportedSales(sql, input, page))) {
    for (const sale of sales) counted.addSale(sale);
  }
  for await (const refunds of pagesOf(input, (page) => selectReportedRefunds(sql, input, page))) {
    for (const refund of refunds) counted.addRefund(refund);
  }
  return counted.tally;
}

/** About 40 MB: a year of days by item for a large shop, or many smaller reports. */
const MAX_CACHED_ROWS = 100_000;

interface Cached {
  readonly mark: string;
  readonly tally: Promise<Tally>;
  size: number;
}

/** Results by period and grouping, with the mark of their rows. The tables are authoritative. */
export class TallyCache {
  readonly #known = new Map<string, Cached>();
  readonly #maxRows: number;
  #size = 0;

  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  /** Returns the result with this key and mark, or else what `count` returns. */
  get(key: string, mark: string, count: () => Promise<Tally>): Promise<Tally> {
    const known = this.#known.get(key);
    if (known?.mark === mark) return known.tally;
    this.#drop(key);
    const made: Cached = { mark, tally: count(), size: 1 };
    this.#known.set(key, made);
    this.#size++;
    made.tally.then(
      ({ rows }) => this.#grow(key, made, rows.size),
      () => this.#known.get(key) === made && this.#drop(key),
    );
    return made.tally;
  }

  #grow(key: string, made: Cached, rows: number): void {
    if (this.#known.get(key) !== made) return;
    made.size += rows;
    this.#size += rows;
    for (const oldest of this.#known.keys()) {
      if (this.#size <= this.#maxRows) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#size -= this.#known.get(key)?.size ?? 0;
    this.#known.delete(key);
  }
}

/** The sections of an account in one time zone, which count the same days. */
interface Span {
  readonly tenant: Tenant;
  readonly shop: ShopDays;
  readonly locations: (string | null)[];
}

function spansOf(sections: readonly Section[]): Span[] {
  const spans = new Map<string, Span>();
  for (const { tenant, shop, location } of sections) {
    const key = `${tenantKey(tenant)} ${shop.timeZone}`;
    const span = spans.get(key) ?? { tenant, shop, locations: [] };
    span.locations.push(location?.id ?? null);
    spans.set(key, span);
  }
  return [...spans.values()];
}

export interface SalesQuery extends Days {
  readonly sections: readonly Section[];
  readonly terminalId: string | null;
  readonly groupBy: readonly Grouping[];
  readonly now: Date;
}

/** Adds up what was booked on these days, as each location counts them. */
export type ReadSales = (sql: Sql, query: SalesQuery) => Promise<Tally>;

/** Returns a reader that keeps results until a sale or refund of their period is booked. */
export function salesReader(): ReadSales {
  const cache = new TallyCache(MAX_CACHED_ROWS);
  const countDays = async (sql: Sql, span: Span, query: Omit<SalesQuery, 'sections' | 'now'>) => {
    const { tenant, shop, locations } = span;
    const { terminalId, groupBy, from, to } = query;
    const bounds = dayBounds(shop, from, to);
    const input = { tenant, terminalId, locations, ...bounds, isByLine: isByLine(groupBy) };
    const key = JSON.stringify([tenant, shop, locations, terminalId, groupBy, bounds]);
    const mark = await selectReportMark(sql, input);
    return cache.get(key, mark, () => countRows(sql, input, { groupBy, shop }));
  };
  return async (sql, { sections, now, ...query }) => {
    const tally = emptyTally();
    for (const span of spansOf(sections)) {
      // Sales are booked today, so the days before stay in the cache while tills sell.
      const today = dayIn(span.shop, await accountTime(sql, span.tenant, now));
      const { from, to } = query;
      const [yesterday] = [dayAfter(today, -1), to].toSorted();
      const [, first] = [from, today].toSorted();
      const past = { from, to: yesterday ?? to };
      const recent = { from: first ?? from, to };
      for (const days of [past, recent].filter((one) => one.from <= one.to)) {
        addTally(tally, await countDays(sql, span, { ...query, ...days }));
      }
    }
    return tally;
  };
}

/** Returns the days before: as many as these. */
export function daysBefore({ from, to }: Days): Days {
  const count = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  return { from: dayAfter(from, -count), to: dayAfter(from, -1) };
}
