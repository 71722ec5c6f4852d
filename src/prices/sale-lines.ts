/**
 * The arithmetic of a sale's lines, in whole minor units of its currency (atoms for a sale in
 * USDC). Nothing is rounded twice, and no part is lost:
 *
 * - A line is quantity × unit price, rounded half away from zero, minus its discount. It is below 0
 *   for a deposit that is given back, or a voucher.
 * - The sale's discount is distributed over the lines above 0 in proportion, rounded down; the last
 *   of them takes the rest.
 * - The lines of one rate and kind (tax included or added) are summed, and the sum is taxed,
 *   rounded half away from zero.
 */

/** A line of a sale, as stored and as the API returns it. */
export interface LineItem {
  readonly name: string;
  /** Above 0: an integer, or a decimal string with up to three decimals such as `"0.350"`. */
  readonly quantity: number | string;
  /** Of either sign. */
  readonly unit_amount: number;
  /** Basis points. */
  readonly tax_rate: number;
  /** True if `unit_amount` includes the tax. */
  readonly tax_inclusive: boolean;
  /** Subtracted from this line. At most the line's price, and 0 for a line below 0. */
  readonly discount: number;
  /** The basis points from which the discount was computed; not stored if it was a sum. */
  readonly discount_rate?: number | null;
  readonly discount_name?: string | null;
  /** The catalog item, with its category at the time of the sale. */
  readonly item?: string | null;
  readonly category?: string | null;
}

/** A sale's lines, and the discount on all of them together. */
export interface SaleLines {
  readonly lineItems: readonly LineItem[];
  readonly discount: number;
  /** As in `LineItem`. */
  readonly discountRate?: number;
  readonly discountName?: string;
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
/** 100 % in basis points. */
export const RATE_WHOLE = 10_000n;

/** Divides by a number above 0, and rounds half away from zero. */
export function divide(value: bigint, by: bigint): bigint {
  return value < 0n ? -divide(-value, by) : (2n * value + by) / (2n * by);
}

/** Returns a quantity in thousandths. */
export function thousandths(quantity: LineItem['quantity']): bigint {
  if (typeof quantity === 'number') return BigInt(quantity) * ONE_PIECE;
  const [whole = '', fraction = ''] = quantity.split('.');
  return BigInt(whole + fraction.padEnd(QUANTITY_DECIMALS, '0'));
}

/** Returns thousandths as decimal text, without trailing zeros. */
export function quantityText(value: bigint): string {
  const digits = String(value).padStart(4, '0');
  const fraction = digits.slice(-3).replace(/0+$/, '');
  return `${digits.slice(0, -3)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Returns quantity × unit price, before any discount. */
export function fullPrice({ quantity, unit_amount }: Pick<LineItem, 'quantity' | 'unit_amount'>) {
  return divide(thousandths(quantity) * BigInt(unit_amount), ONE_PIECE);
}

/** Returns a line's price minus its own discount. A receipt prints it beside the name. */
export function linePrice(line: LineItem): bigint {
  return fullPrice(line) - BigInt(line.discount);
}

/** Returns a percentage of a price, rounded half up. */
export function percentOf(price: bigint, rate: number): bigint {
  return divide(price * BigInt(rate), RATE_WHOLE);
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

const isAboveZero = (price: bigint) => price > 0n;

/** Returns the sum of the lines above 0, from which a discount on the sale is taken. */
export function discountable(lineItems: readonly LineItem[]): bigint {
  return sum(lineItems.map(linePrice).filter(isAboveZero));
}

/**
 * Returns the lines minus their shares of the sale's discount. The rest from rounding, less than
 * one minor unit per line, is taken from the last line above 0 and, if that is too small, from the
 * lines before it, so that no discount makes a line negative.
 */
function discounted({ lineItems, discount }: SaleLines): bigint[] {
  const prices = lineItems.map(linePrice);
  const whole = discountable(lineItems);
  if (discount === 0 || whole === 0n) return prices;
  const left = prices.map((price) => {
    return isAboveZero(price) ? price - (price * BigInt(discount)) / whole : price;
  });
  let rest = BigInt(discount) - (sum(prices) - sum(left));
  const fromTheLast = left.toReversed().map((price) => {
    const most = isAboveZero(price) ? price : 0n;
    const taken = rest < most ? rest : most;
    rest -= taken;
    return price - taken;
  });
  return fromTheLast.toReversed();
}

interface Taxed {
  net: bigint;
  tax: bigint;
}

/** The sum of the lines of one rate and kind. */
interface TaxedSum {
  readonly rate: number;
  readonly isWithin: boolean;
  readonly value: bigint;
  /** The index of its last line. */
  readonly last: number;
  readonly taxed: Taxed;
}

function sumKey({ tax_rate, tax_inclusive }: LineItem): number {
  return 2 * tax_rate + (tax_inclusive ? 1 : 0);
}

/** Returns one sum per rate and kind, each taxed once. `left` are the discounted lines. */
function taxedSums(sale: SaleLines, left = discounted(sale)): Map<number, TaxedSum> {
  const values = new Map<number, { line: LineItem; value: bigint; last: number }>();
  sale.lineItems.forEach((line, last) => {
    const key = sumKey(line);
    const value = (values.get(key)?.value ?? 0n) + (left[last] ?? 0n);
    values.set(key, { line, value, last });
  });
  const sums = new Map<number, TaxedSum>();
  for (const [key, { line, value, last }] of values) {
    const { tax_rate: rate, tax_inclusive: isWithin } = line;
    const points = BigInt(rate);
    const tax = divide(value * points, isWithin ? RATE_WHOLE + points : RATE_WHOLE);
    const taxed = { net: isWithin ? value - tax : value, tax };
    sums.set(key, { rate, isWithin, value, last, taxed });
  }
  return sums;
}

/** Divides by a number other than 0, and rounds down. */
export function floorOf(value: bigint, by: bigint): bigint {
  const whole = value / by;
  return whole * by !== value && value < 0n !== by < 0n ? whole - 1n : whole;
}

/** What a line brought: `gross` with `tax`, after all discounts. */
export interface LineShare {
  readonly gross: bigint;
  /** Its share of its rate's tax, which is part of `gross`. */
  readonly tax: bigint;
  /** Its own discount, and its share of the sale's. */
  readonly discount: bigint;
}

/**
 * Returns what each line brought: its price after both discounts, plus its share of the tax that is
 * added to its rate. The lines of a rate share its tax by their prices: the running sum is rounded
 * down, and the last line takes the rest. So the shares add up to the sale's price and taxes.
 */
export function lineShares(sale: SaleLines): LineShare[] {
  const left = discounted(sale);
  const sums = taxedSums(sale, left);
  const given = new Map<number, { readonly value: bigint; readonly tax: bigint }>();
  return sale.lineItems.map((line, index) => {
    const own = left[index] ?? 0n;
    const key = sumKey(line);
    const all = sums.get(key);
    if (all === undefined) return { gross: own, tax: 0n, discount: 0n };
    const before = given.get(key) ?? { value: 0n, tax: 0n };
    const value = before.value + own;
    const isWhole = index === all.last || all.value === 0n;
    const upTo = isWhole ? all.taxed.tax : floorOf(all.taxed.tax * value, all.value);
    if (index !== all.last) given.set(key, { value, tax: upTo });
    const tax = upTo - before.tax;
    return { gross: all.isWithin ? own : own + tax, tax, discount: fullPrice(line) - own };
  });
}

/** Returns the `gross` of each line. The values add up to the sale's price. */
export function lineValues(sale: SaleLines): bigint[] {
  return lineShares(sale).map(({ gross }) => gross);
}

/** Returns a sale's price: its lines minus all discounts, plus the tax on tax-exclusive lines. */
export function salePrice(sale: SaleLines): bigint {
  return sum([...taxedSums(sale).values()].map(({ taxed: { net, tax } }) => net + tax));
}

/**
 * Returns an accepted sale's tax table: one row per rate, lowest first, including rate 0. The sum
 * of `gross` is the sale's price.
 */
export function taxTable(sale: SaleLines): RateTax[] {
  const rows = new Map<number, Taxed>();
  for (const { rate, taxed } of taxedSums(sale).values()) {
    const { net, tax } = rows.get(rate) ?? { net: 0n, tax: 0n };
    rows.set(rate, { net: net + taxed.net, tax: tax + taxed.tax });
  }
  return [...rows]
    .sort(([one], [other]) => one - other)
    .map(([rate, { net, tax }]) => {
      return { rate, net: Number(net), tax: Number(tax), gross: Number(net + tax) };
    });
}

/** Renders `line_items` of an intent or a payment. */
export function renderLines(lines: SaleLines | null) {
  if (lines === null) return null;
  return lines.lineItems.map(({ discount_rate, discount_name, item, category, ...line }) => ({
    ...line,
    discount_rate: discount_rate ?? null,
    discount_name: discount_name ?? null,
    item: item ?? null,
    category: category ?? null,
  }));
}

/** Renders the discount on the whole sale, as intents and payments contain it. */
export function renderDiscount(lines: SaleLines | null) {
  return {
    discount: discountOf(lines),
    discount_rate: lines?.discountRate ?? null,
    discount_name: lines?.discountName ?? null,
  };
}

export function discountOf(lines: SaleLines | null): number {
  return lines === null ? 0 : lines.discount;
}

export function hasDiscount({ lineItems, discount }: SaleLines): boolean {
  return discount > 0 || lineItems.some((line) => line.discount > 0);
}
