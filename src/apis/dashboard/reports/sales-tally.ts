import type { ReportedRefund, ReportedSale } from '#apis/dashboard/reports/sales-report-queries.ts';
import { daysInOrder, type ShopDays, wallTime } from '#core/calendar.ts';
import { HOUR_MS, MINUTE_MS } from '#core/durations.ts';
import { methodOf, paymentTaxes } from '#payments/payment.ts';
import { floorOf, lineShares, type RateTax, thousandths } from '#prices/sale-lines.ts';

/**
 * Adds up the rows of a sales report, from figures that were stored with each sale and refund. Sums
 * are in minor units of the sale's currency, or in atoms for a sale in USDC.
 */

export const GROUPINGS = [
  ...(['day', 'hour', 'weekday', 'item', 'category', 'cashier'] as const),
  ...(['location', 'terminal', 'tax_rate', 'method'] as const),
] as const;

export type Grouping = (typeof GROUPINGS)[number];
export type Key = string | number | null;

const SUMS = [
  ...(['quantity', 'gross', 'net', 'tax', 'discount', 'tip'] as const),
  ...(['refunded', 'refundedNet', 'refundedTax'] as const),
] as const;

type Sums = { [Name in (typeof SUMS)[number]]: bigint };

/** A row of the report, or its total in one currency. */
export interface Tallied extends Sums {
  readonly keys: readonly Key[];
  readonly currency: string;
  /** The number of sales. */
  count: number;
  /** The name under which the item of the row was sold last. */
  itemName: string | null;
  /** The number of the sale that was counted last. */
  lastSale: number;
}

export interface Tally {
  readonly rows: Map<string, Tallied>;
  readonly totals: Map<string, Tallied>;
}

export function emptyTally(): Tally {
  return { rows: new Map(), totals: new Map() };
}

/** The part of a sale or refund that falls into one item, category and tax rate. */
interface Part extends Partial<Sums> {
  readonly item: string | null;
  readonly itemName?: string;
  readonly category: string | null;
  readonly rate: number | null;
}

const NO_LINE = { item: null, category: null, rate: null } as const;
const USDC = 'usdc';

function tallied(rows: Map<string, Tallied>, keys: readonly Key[], currency: string): Tallied {
  // PostgreSQL stores no text with this separator. Keys of one grouping are of one type.
  const name = `${currency}\0${keys.join('\0')}`;
  const known = rows.get(name);
  if (known !== undefined) return known;
  const made: Tallied = {
    ...{ keys, currency, count: 0, itemName: null, lastSale: 0 },
    ...{ quantity: 0n, gross: 0n, net: 0n, tax: 0n, discount: 0n, tip: 0n },
    ...{ refunded: 0n, refundedNet: 0n, refundedTax: 0n },
  };
  rows.set(name, made);
  return made;
}

function addSums(into: Tallied, part: Partial<Sums>): void {
  for (const name of SUMS) {
    const value = part[name];
    if (value !== undefined && value !== 0n) into[name] += value;
  }
}

/** Adds the rows and totals of `from`, which is a later or an earlier part of the same report. */
export function addTally(into: Tally, from: Tally): void {
  for (const which of ['rows', 'totals'] as const) {
    for (const row of from[which].values()) {
      const own = tallied(into[which], row.keys, row.currency);
      addSums(own, row);
      own.count += row.count;
      own.itemName = row.itemName ?? own.itemName;
    }
  }
}

/** The parts of a sale by line; by rate if only its taxes are known. The tip is in no line. */
function saleLines(sale: ReportedSale, price: bigint): Part[] {
  const { lines } = sale;
  if (lines !== null) {
    return lineShares(lines).map(({ gross, tax, discount }, index) => {
      const line = lines.lineItems[index];
      return {
        ...{ item: line?.item ?? null, category: line?.category ?? null },
        ...(line === undefined ? {} : { itemName: line.name }),
        ...{ rate: line?.tax_rate ?? null, quantity: thousandths(line?.quantity ?? 0) },
        ...{ gross, net: gross - tax, tax, discount },
      };
    });
  }
  if (sale.taxes === null) return [{ ...NO_LINE, gross: price, net: price }];
  return sale.taxes.map(({ rate, ...sums }) => {
    const { gross, net, tax } = sums;
    return { ...NO_LINE, rate, gross: BigInt(gross), net: BigInt(net), tax: BigInt(tax) };
  });
}

function sumOf(taxes: readonly RateTax[], name: 'net' | 'tax' | 'gross'): bigint {
  return BigInt(taxes.reduce((sum, row) => sum + row[name], 0));
}

/** A sale's sums, without its lines: much less work for a report that does not split by line. */
function saleWhole(sale: ReportedSale, price: bigint): Part {
  const { lines } = sale;
  const taxes = paymentTaxes(sale);
  const sums = {
    gross: price,
    net: taxes === null ? price : sumOf(taxes, 'net'),
    tax: taxes === null ? 0n : sumOf(taxes, 'tax'),
  };
  if (lines === null) return { ...NO_LINE, ...sums };
  let [quantity, discount] = [0n, lines.discount];
  for (const line of lines.lineItems) {
    quantity += thousandths(line.quantity);
    discount += line.discount;
  }
  return { ...NO_LINE, ...sums, quantity, discount: BigInt(discount) };
}

/** The returned lines of a refund that have one rate, with the rate's tax by their amounts. */
function returnedAt(refund: ReportedRefund, { rate, gross, tax }: RateTax): Part[] {
  const sold = (refund.line_items ?? []).flatMap(({ line, amount }) => {
    const of = refund.lines?.lineItems[line];
    return of?.tax_rate === rate ? [{ of, amount: BigInt(amount) }] : [];
  });
  const rest = BigInt(gross) - sold.reduce((sum, { amount }) => sum + amount, 0n);
  const all = [...sold, ...(rest === 0n && sold.length > 0 ? [] : [{ of: null, amount: rest }])];
  let [through, given] = [0n, 0n];
  return all.map(({ of, amount }, index) => {
    through += amount;
    const isLast = index === all.length - 1 || gross === 0;
    const upTo = isLast ? BigInt(tax) : floorOf(BigInt(tax) * through, BigInt(gross));
    const own = upTo - given;
    given = upTo;
    const sums = { refunded: amount, refundedTax: own, refundedNet: amount - own };
    const { item = null, category = null } = of ?? {};
    return { item, category, rate, ...(of === null ? {} : { itemName: of.name }), ...sums };
  });
}

/** The parts of a refund. What is left of its tax rates is the tip, which has no net sum. */
function refundParts(refund: ReportedRefund, sum: bigint): Part[] {
  const taxes = refund.taxes?.filter(
    ({ net, tax, gross }) => net !== 0 || tax !== 0 || gross !== 0,
  );
  if (taxes === undefined) return [{ ...NO_LINE, refunded: sum, refundedNet: sum }];
  const tip = sum - sumOf(taxes, 'gross');
  return [
    ...taxes.flatMap((row) => returnedAt(refund, row)),
    ...(tip === 0n ? [] : [{ ...NO_LINE, refunded: tip }]),
  ];
}

/** The zones' offsets change only at multiples of this. */
const OFFSET_STEP_MS = 15 * MINUTE_MS;

/** Returns a function that returns the hour of instants in order, on the shop's clock. */
function hoursInOrder({ timeZone }: ShopDays): (at: Date) => number {
  let known = { step: -1, hour: 0 };
  return (at) => {
    const step = Math.floor(at.getTime() / OFFSET_STEP_MS);
    if (step !== known.step) {
      const wall = wallTime(timeZone, step * OFFSET_STEP_MS);
      known = { step, hour: Math.floor(wall / HOUR_MS) % 24 };
    }
    return known.hour;
  };
}

/** Returns the weekday of a day, from 1 for Monday to 7. */
function weekdayOf(day: string): number {
  return ((new Date(`${day}T00:00:00.000Z`).getUTCDay() + 6) % 7) + 1;
}

type Facts = Pick<
  ReportedSale,
  'created' | 'cashier_id' | 'credential_type' | 'terminal_id' | 'location_id'
>;

const BY_LINE: readonly Grouping[] = ['item', 'category', 'tax_rate'];

/** True if a report with this grouping splits sales by line. */
export function isByLine(groupBy: readonly Grouping[]): boolean {
  return groupBy.some((grouping) => BY_LINE.includes(grouping));
}

/** Adds sales and refunds of one time zone to a tally: first all sales, then all refunds. */
export class SalesTally {
  readonly tally = emptyTally();
  readonly #groupBy: readonly Grouping[];
  readonly #isByLine: boolean;
  readonly #dayOf: (at: Date) => string;
  readonly #hourOf: (at: Date) => number;
  #sales = 0;

  constructor(groupBy: readonly Grouping[], shop: ShopDays) {
    this.#groupBy = groupBy;
    this.#isByLine = isByLine(groupBy);
    this.#dayOf = daysInOrder(shop);
    this.#hourOf = hoursInOrder(shop);
  }

  #keyOf(grouping: Grouping, facts: Facts, part: Part): Key {
    switch (grouping) {
      case 'day':
        return this.#dayOf(facts.created);
      case 'hour':
        return this.#hourOf(facts.created);
      case 'weekday':
        return weekdayOf(this.#dayOf(facts.created));
      case 'item':
        return part.item;
      case 'category':
        return part.category;
      case 'cashier':
        return facts.cashier_id;
      case 'location':
        return facts.location_id;
      case 'terminal':
        return facts.terminal_id;
      case 'tax_rate':
        return part.rate;
      case 'method': {
        const { type, credential } = methodOf(facts.credential_type);
        return `${type}/${credential}`;
      }
    }
  }

  #rowOf(facts: Facts, part: Part, currency: string): Tallied {
    const keys = this.#groupBy.map((grouping) => this.#keyOf(grouping, facts, part));
    return tallied(this.tally.rows, keys, currency);
  }

  addSale(sale: ReportedSale): void {
    const { presentment, amount, tip: tipAtoms } = sale;
    const currency = presentment?.currency ?? USDC;
    const price = presentment === null ? amount - tipAtoms : BigInt(presentment.amount);
    const tip = presentment === null ? tipAtoms : BigInt(presentment.tipAmount);
    const total = tallied(this.tally.totals, [], currency);
    total.count++;
    this.#sales++;
    const parts = this.#isByLine
      ? [...saleLines(sale, price), ...(tip === 0n ? [] : [{ ...NO_LINE, tip }])]
      : [{ ...saleWhole(sale, price), tip }];
    for (const part of parts) {
      addSums(total, part);
      const row = this.#rowOf(sale, part, currency);
      addSums(row, part);
      if (row.lastSale !== this.#sales) row.count++;
      row.lastSale = this.#sales;
      if (part.item !== null) row.itemName = part.itemName ?? null;
    }
  }

  addRefund(refund: ReportedRefund): void {
    const { presentment, amount } = refund;
    const currency = presentment?.currency ?? USDC;
    const total = tallied(this.tally.totals, [], currency);
    for (const part of refundParts(refund, BigInt(presentment?.amount ?? amount))) {
      addSums(total, part);
      const row = this.#rowOf(refund, part, currency);
      addSums(row, part);
      if (part.item !== null) row.itemName ??= part.itemName ?? null;
    }
  }
}
