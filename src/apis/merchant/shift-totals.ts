import { Readable } from 'node:stream';
import type { Static } from 'typebox';
import { selectShopAt } from '#accounts/locations.ts';
import { selectShopDays } from '#accounts/shop-days.ts';
import {
  LINE_COLUMNS,
  lineRows,
  payoutsView,
  sumDiscounts,
  sumTaxes,
} from '#apis/merchant/line-totals.ts';
import type { TotalsQuery } from '#apis/merchant/totals-schema.ts';
import { figures } from '#apis/merchant/totals-schema.ts';
import { type Answer, answerWith, isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { type DayBounds, dayBounds, dayIn, type ShopDays } from '#core/calendar.ts';
import type { Json } from '#core/canonical-json.ts';
import { checkDays } from '#core/check-day-range.ts';
import { addMs } from '#core/clock.ts';
import { csvHeader, csvLine } from '#core/csv.ts';
import { DAY_MS } from '#core/durations.ts';
import type { Tenant } from '#core/mode.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import { accountTime } from '#db/commit-order.ts';
import type { Sql } from '#db/database.ts';
import { readDate } from '#http/cursors.ts';
import type { Stream } from '#http/route.ts';
import { type OfflineFigures, selectOfflineFigures } from '#payments/offline/offline-queries.ts';
import {
  selectPaidOut,
  selectRefundedTaxes,
  selectSoldLines,
  selectTotals,
  type TotalsRow,
} from '#payments/shift-totals-queries.ts';

const COLUMNS = ['terminal', 'label', 'cashier', ...Object.keys(figures), ...LINE_COLUMNS];

const NOTHING = {
  ...{ payments: 0, sales: 0n, tips: 0n, refunds: 0, refunded: 0n, declines: 0 },
  presentment: [],
};

/** Sums of the sales that were priced in one currency other than USDC, in its minor units. */
interface Priced {
  readonly currency: string;
  readonly sales: bigint;
  readonly tips: bigint;
  readonly refunded: bigint;
}

interface Figures {
  readonly payments: number;
  readonly sales: bigint;
  readonly tips: bigint;
  readonly refunds: number;
  readonly refunded: bigint;
  readonly declines: number;
  readonly presentment: readonly Priced[];
}

interface TerminalTotals extends Figures {
  readonly terminal_id: string | null;
  readonly label: string | null;
}

interface CashierTotals extends TerminalTotals {
  readonly cashier: string | null;
  readonly cashier_id: string | null;
}

function ofCashier(one: CashierTotals, other: CashierTotals): boolean {
  const isSame = one.cashier === other.cashier && one.cashier_id === other.cashier_id;
  return isSame && ofTerminal(one, other);
}

function addPriced(one: readonly Priced[], other: readonly Priced[]): Priced[] {
  const sums = new Map<string, Priced>();
  for (const part of [...one, ...other]) {
    const { currency } = part;
    const { sales = 0n, tips = 0n, refunded = 0n } = sums.get(currency) ?? {};
    sums.set(currency, {
      currency,
      sales: sales + part.sales,
      tips: tips + part.tips,
      refunded: refunded + part.refunded,
    });
  }
  return [...sums.values()];
}

function addFigures(one: Figures, other: Figures): Figures {
  return {
    payments: one.payments + other.payments,
    sales: one.sales + other.sales,
    tips: one.tips + other.tips,
    refunds: one.refunds + other.refunds,
    refunded: one.refunded + other.refunded,
    declines: one.declines + other.declines,
    presentment: addPriced(one.presentment, other.presentment),
  };
}

/** Merges consecutive rows that belong together by adding up their figures. */
function merge<Row extends Figures>(
  rows: readonly Row[],
  isSame: (one: Row, other: Row) => boolean,
): Row[] {
  const merged: Row[] = [];
  for (const row of rows) {
    const last = merged.at(-1);
    if (last === undefined || !isSame(last, row)) merged.push(row);
    else merged[merged.length - 1] = { ...last, ...addFigures(last, row) };
  }
  return merged;
}

function ofTerminal(one: TerminalTotals, other: TerminalTotals): boolean {
  return one.terminal_id === other.terminal_id;
}

function byCashier(rows: readonly TotalsRow[]): CashierTotals[] {
  const cashiers = rows.map((row): CashierTotals => {
    const { currency, priced_sales: sales, priced_tips: tips, priced_refunded: refunded } = row;
    const presentment = currency === null ? [] : [{ currency, sales, tips, refunded }];
    return { ...row, presentment };
  });
  return merge(cashiers, ofCashier);
}

function figuresView(row: Figures) {
  return {
    payments: row.payments,
    sales: toJsonAtoms(row.sales),
    tips: toJsonAtoms(row.tips),
    refunds: row.refunds,
    refunded: toJsonAtoms(row.refunded),
    declines: row.declines,
  };
}

function offlineView({ payments, sales, bounced, bounced_amount: amount }: OfflineFigures) {
  return {
    payments,
    sales: toJsonAtoms(sales),
    bounced,
    bounced_amount: toJsonAtoms(amount),
  };
}

function pricedView({ currency, sales, tips, refunded }: Priced) {
  const sums = { sales: Number(sales), tips: Number(tips), refunded: Number(refunded) };
  return { currency, ...sums };
}

function answerView(row: Figures) {
  return { ...figuresView(row), presentment: row.presentment.map(pricedView) };
}

function terminalView(row: TerminalTotals) {
  return { terminal: row.terminal_id, label: row.label, ...answerView(row) };
}

function cashierView(row: CashierTotals) {
  return { ...terminalView(row), cashier: row.cashier, cashier_id: row.cashier_id };
}

function answerFile(rows: readonly { readonly [column: string]: Json }[], name: string): Stream {
  const lines = rows.map((row) => csvLine(row, COLUMNS));
  return {
    status: 200,
    stream: Readable.from([csvHeader(COLUMNS) + lines.join('')]),
    headers: {
      'Content-Type': 'text/csv; charset=utf-8',
      'Content-Disposition': `attachment; filename="${name}"`,
      'X-Content-Type-Options': 'nosniff',
    },
  };
}

export function sumTotals(rows: readonly TotalsRow[]) {
  return answerView(byCashier(rows).reduce<Figures>(addFigures, NOTHING));
}

export async function answerTotals(
  db: Sql,
  request: TotalsRequest,
): Promise<Answer | Refusal | Stream> {
  const { tenant, terminalId, query } = request;
  const { accountId } = tenant;
  const days = await selectShopDays(db, tenant);
  const timeZone =
    terminalId === null
      ? days.timeZone
      : (await selectShopAt(db, { accountId, terminalId })).time_zone;
  const now = await accountTime(db, tenant, request.now);
  const span = readSpan({ ...request, now }, { ...days, timeZone });
  if (isRefusal(span)) return span;
  const { from, to, since, until, isShift } = span;
  const input = { tenant, terminalId, since, until };
  const rows = byCashier(await selectTotals(db, input));
  const sold = await selectSoldLines(db, input);
  const refundedTaxes = await selectRefundedTaxes(db, input);
  const paidOut = await selectPaidOut(db, input);
  const total = answerView(rows.reduce<Figures>(addFigures, NOTHING));
  if (query.format === 'csv') {
    const mode = tenant.livemode ? 'live' : 'test';
    const { presentment } = total;
    const last = lineRows({ presentment, sold, refundedTaxes, paidOut });
    const file = [...rows.map(cashierView), ...last];
    return answerFile(file, `tapline-${mode}-totals-${from}-${to}.csv`);
  }
  return answerWith(200, {
    object: 'totals',
    livemode: tenant.livemode,
    network: networkOf(tenant.livemode),
    from,
    to,
    created_gte: isShift ? since.toISOString() : null,
    created_lt: isShift ? until.toISOString() : null,
    time_zone: timeZone,
    total,
    terminals: merge<TerminalTotals>(rows, ofTerminal).map(terminalView),
    cashiers: rows.map(cashierView),
    taxes: sumTaxes(sold),
    refunded_taxes: refundedTaxes,
    discounts: sumDiscounts(sold),
    payouts: payoutsView(paidOut),
    offline: offlineView(await selectOfflineFigures(db, input)),
  });
}

interface TotalsRequest {
  readonly tenant: Tenant;
  /** Counts this terminal; `null` for all terminals of the account. */
  readonly terminalId: string | null;
  readonly query: Static<typeof TotalsQuery>;
  readonly now: Date;
}

/** Maximum length of a shift. It limits the rows to read if a cashier forgets to end the shift. */
const LONGEST_SHIFT_MS = 31 * DAY_MS;

interface Span extends DayBounds {
  readonly from: string;
  readonly to: string;
  readonly isShift: boolean;
}

function readDays({ query, now }: TotalsRequest, shop: ShopDays): Span | Refusal {
  const from = query.from ?? dayIn(shop, now);
  const to = query.to ?? from;
  return checkDays(from, to) ?? { from, to, ...dayBounds(shop, from, to), isShift: false };
}

function readShift({ query }: TotalsRequest, shop: ShopDays): Span | Refusal {
  const since = readDate(query.created_gte, 'created_gte');
  if (isRefusal(since)) return since;
  const end = readDate(query.created_lt, 'created_lt');
  if (isRefusal(end)) return end;
  const wrong = (message: string, param: string) => refuse('parameter_invalid', message, param);
  if (since === null) return wrong('created_lt requires created_gte.', 'created_lt');
  if (query.from !== undefined || query.to !== undefined) {
    return wrong('Send either days (from, to) or a shift (created_gte, created_lt).', 'from');
  }
  const longest = addMs(since, LONGEST_SHIFT_MS);
  const until = end ?? longest;
  if (until <= since) return wrong('created_lt must be after created_gte.', 'created_lt');
  if (until > longest) return wrong('A shift can last at most 31 days.', 'created_gte');
  const [from, to] = [dayIn(shop, since), dayIn(shop, addMs(until, -1))];
  return { from, to, since, until, isShift: true };
}

function readSpan(request: TotalsRequest, shop: ShopDays): Span | Refusal {
  const { created_gte: since, created_lt: until } = request.query;
  const isShift = since !== undefined || until !== undefined;
  return (isShift ? readShift : readDays)(request, shop);
}
