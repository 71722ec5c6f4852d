import type { Json } from '#core/canonical-json.ts';

/**
 * The arithmetic of a sale's lines, in whole minor units of its currency (atoms for a sale in
 * USDC). Nothing is rounded twice, and no part is lost:
 *
 * - A line is quantity × unit price, rounded half up, minus its discount.
 * - The sale's discount is distributed over the lines in proportion, rounded down; the last line
 *   takes the rest.
 * - The lines of one rate and kind (tax included or added) are summed, and the sum is taxed,
 *   rounded half up.
 */

/** A line of a sale, as stored and as the API returns it. */
export interface LineItem {
  readonly name: string;
  /** Above 0: an integer, or a decimal string with up to three decimals such as `"0.350"`. */
  readonly quantity: number | string;
  readonly unit_amount: number;
  /** Basis points. */
  readonly tax_rate: number;
  /** True if `unit_amount` includes the tax. */
  readonly tax_inclusive: boolean;
  /** Subtracted from this line. At most the line's price. */
  readonly discount: number;
}

/** A sale's lines, and the discount on all of them together. */
export interface SaleLines {
  readonly lineItems: readonly LineItem[];
  readonly discount: number;
}

/** A row of a receipt's tax table: all lines with one rate. `net` + `tax` = `gross`. */
export interface RateTax {
  /** Basis points. */
  readonly rate: number;
  readonly net: number;
  readonly tax: number;
  readonly gross: number;
}

/** Number of decimals of a quantity, which is computed in thousandths. */
const QUANTITY_DECIMALS = 3;
const ONE_PIECE = 10n ** BigInt(QUANTITY_DECIMALS);
const ALL_POINTS = 10_000n;

/** Divides whole numbers and rounds half up. `value` must not be negative. */
function divide(value: bigint, by: bigint): bigint {
  return (2n * value + by) / (2n * by);
}

function thousandths(quantity: LineItem['quantity']): bigint {
  const [whole = '', fraction = ''] = String(quantity).split('.');
  return BigInt(whole + fraction.padEnd(QUANTITY_DECIMALS, '0'));
}

/** Returns quantity × unit price, before any discount. */
export function fullPrice({ quantity, unit_amount }: Pick<LineItem, 'quantity' | 'unit_amount'>) {
  return divide(thousandths(quantity) * BigInt(unit_amount), ONE_PIECE);
}

/** Returns a line's price minus its own discount. A receipt prints it beside the name. */
export function linePrice(line: LineItem): bigint {
  return fullPrice(line) - BigInt(line.discount);
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

/**
 * Returns the lines minus their shares of the sale's discount. The rest from rounding, less than
 * one minor unit per line, is taken from the last line and, if that is too small, from the lines
 * before it, so that no line is negative.
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

/** Returns one sum per rate and kind, each taxed once. */
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

/** Returns a sale's price: its lines minus all discounts, plus the tax on tax-exclusive lines. */
export function salePrice(sale: SaleLines): bigint {
  return sum(taxedSums(sale).map(({ taxed: { net, tax } }) => net + tax));
}

/**
 * Returns the lines of the same sale without a sale-wide discount: each line's own discount
 * includes its share. Prices and taxes stay the same.
 */
export function withDiscountInLines(sale: SaleLines): readonly LineItem[] {
  const left = discounted(sale);
  return sale.lineItems.map((line, at) => {
    return { ...line, discount: Number(fullPrice(line) - (left[at] ?? 0n)) };
  });
}

/**
 * Returns an accepted sale's tax table: one row per rate, lowest first, including rate 0. The sum
 * of `gross` is the sale's price.
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

export function renderLines(lines: SaleLines | null): { [key: string]: Json }[] | null {
  return lines === null ? null : lines.lineItems.map((line) => ({ ...line }));
}

export function discountOf(lines: SaleLines | null): number {
  return lines === null ? 0 : lines.discount;
}

export function hasDiscount({ lineItems, discount }: SaleLines): boolean {
  return discount > 0 || lineItems.some((line) => line.discount > 0);
}
