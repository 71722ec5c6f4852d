import type { Json } from '#core/canonical-json.ts';

/**
 * The arithmetic of a sale's lines, in whole minor units of its currency (atoms for a sale in
 * USDC). Nothing here rounds twice, and no part is lost:
 *
 * - A line is quantity × unit price, rounded half up, less its discount.
 * - The discount of the sale is taken from the lines in proportion, rounded down; the last line
 *   takes what is left of it.
 * - The lines of one rate and kind (tax within the price, or on top of it) are added, and only
 *   that sum is taxed, rounded half up.
 */

/** A line of a sale, as it is stored and as the API returns it. */
export interface LineItem {
  readonly name: string;
  /** An integer, or decimal text with up to three decimals: `2`, `"0.350"`. Above 0. */
  readonly quantity: number | string;
  readonly unit_amount: number;
  /** Basis points. */
  readonly tax_rate: number;
  /** True if `unit_amount` includes the tax. */
  readonly tax_inclusive: boolean;
  /** Taken from this line; at most the line. */
  readonly discount: number;
}

/** The lines of a sale, and the discount on all of them together. */
export interface SaleLines {
  readonly lineItems: readonly LineItem[];
  readonly discount: number;
}

/** A row of a receipt's tax table: all lines of one rate. `net` + `tax` = `gross`. */
export interface RateTax {
  /** Basis points. */
  readonly rate: number;
  readonly net: number;
  readonly tax: number;
  readonly gross: number;
}

/** A quantity is stored in thousandths. */
const QUANTITY_DECIMALS = 3;
const ONE_PIECE = 10n ** BigInt(QUANTITY_DECIMALS);
const ALL_POINTS = 10_000n;

/** Rounded half up. Both are whole numbers, and `value` is never below 0. */
function divide(value: bigint, by: bigint): bigint {
  return (2n * value + by) / (2n * by);
}

/** Thousandths of a piece. */
function thousandths(quantity: LineItem['quantity']): bigint {
  const [whole = '', fraction = ''] = String(quantity).split('.');
  return BigInt(whole + fraction.padEnd(QUANTITY_DECIMALS, '0'));
}

/** Quantity × unit price, before any discount. */
export function fullPrice({ quantity, unit_amount }: Pick<LineItem, 'quantity' | 'unit_amount'>) {
  return divide(thousandths(quantity) * BigInt(unit_amount), ONE_PIECE);
}

/** A line minus its own discount, which a receipt prints beside its name. */
export function linePrice(line: LineItem): bigint {
  return fullPrice(line) - BigInt(line.discount);
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

/**
 * The lines minus their share of the sale's discount. The rounding rest is less than one minor unit
 * per line and is taken from the last line; a smaller last line leaves the rest to the one before,
 * so that no line is below 0.
 */
function discounted({ lineItems, discount }: SaleLines): bigint[] {
  const prices = lineItems.map(linePrice);
  const whole = sum(prices);
  if (discount === 0 || whole === 0n) return prices;
  const left = prices.map((price) => price - (price * BigInt(discount)) / whole);
  let rest = BigInt(discount) - (whole - sum(left));
  const fromTheLast = left.toReversed().map((price) => {
    const taken = rest < price ? rest : price;
    rest -= taken;
    return price - taken;
  });
  return fromTheLast.toReversed();
}

interface Taxed {
  net: bigint;
  tax: bigint;
}

/** One sum per rate and kind, taxed once. */
function taxedSums(sale: SaleLines): { readonly rate: number; readonly taxed: Taxed }[] {
  const left = discounted(sale);
  const sums = new Map<string, { rate: number; isWithin: boolean; value: bigint }>();
  sale.lineItems.forEach(({ tax_rate: rate, tax_inclusive: isWithin }, index) => {
    const key = `${rate} ${isWithin}`;
    const { value } = sums.get(key) ?? { value: 0n };
    sums.set(key, { rate, isWithin, value: value + (left[index] ?? 0n) });
  });
  return [...sums.values()].map(({ rate, isWithin, value }) => {
    const points = BigInt(rate);
    const tax = divide(value * points, isWithin ? ALL_POINTS + points : ALL_POINTS);
    return { rate, taxed: { net: isWithin ? value - tax : value, tax } };
  });
}

/** The price of the sale: its lines minus all discounts, plus the tax on tax-exclusive lines. */
export function salePrice(sale: SaleLines): bigint {
  return sum(taxedSums(sale).map(({ taxed: { net, tax } }) => net + tax));
}

/**
 * The tax table of a sale that was accepted: one row per rate, the lowest first, a rate of 0 too.
 * The sum of `gross` is the price of the sale.
 */
export function taxTable(sale: SaleLines): RateTax[] {
  const rows = new Map<number, Taxed>();
  for (const { rate, taxed } of taxedSums(sale)) {
    const { net, tax } = rows.get(rate) ?? { net: 0n, tax: 0n };
    rows.set(rate, { net: net + taxed.net, tax: tax + taxed.tax });
  }
  return [...rows]
    .sort(([one], [other]) => one - other)
    .map(([rate, { net, tax }]) => {
      return { rate, net: Number(net), tax: Number(tax), gross: Number(net + tax) };
    });
}

/** `line_items` of an intent or a payment. */
export function renderLines(lines: SaleLines | null): { [key: string]: Json }[] | null {
  return lines === null ? null : lines.lineItems.map((line) => ({ ...line }));
}

/** `discount` of an intent or a payment. */
export function discountOf(lines: SaleLines | null): number {
  return lines === null ? 0 : lines.discount;
}
