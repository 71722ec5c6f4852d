import {
  discountable,
  fullPrice,
  hasDiscount,
  type LineItem,
  linePrice,
  percentOf,
  type SaleLines,
  salePrice,
} from '#prices/sale-lines.ts';
import { plainText } from '../ui/typed-sum.ts';

export interface ItemOption {
  readonly name: string;
  readonly unit_amount: number;
}

export interface Sellable {
  /** `null` for a typed amount, which is no item of the catalog. */
  readonly id: string | null;
  readonly name: string;
  readonly unit_amount: number;
  readonly tax_rate: number;
  readonly tax_inclusive: boolean;
}

/** A line of the sale. It keeps the price that the item had when it was added. */
export interface CartLine extends LineItem {
  /** `null` for a typed amount. */
  readonly item: string | null;
}

/** A discount as the cashier chose it: a sum, or a rate in basis points. */
export interface Discount {
  readonly sum: number;
  readonly rate: number | null;
  /** The name of the preset; `null` if it was typed. */
  readonly name: string | null;
}

export const NO_DISCOUNT: Discount = { sum: 0, rate: null, name: null };

/**
 * The items of the next sale. Sums are in minor units of `currency`; if that is `null`, in atoms of
 * USDC.
 */
export interface Cart {
  readonly currency: string | null;
  readonly lines: readonly CartLine[];
  /** The discount on the whole sale, in addition to the discounts of its lines. */
  readonly discount: number;
  /** As in `Discount`. Absent, like the name, in carts stored by an earlier version. */
  readonly discountRate?: number | null;
  readonly discountName?: string | null;
  /** The name under which it was held before. */
  readonly heldAs?: string;
}

/** The most lines that a sale may have (behavior.md 23.9). */
export const MOST_LINES = 100;
const QUANTITY = /^(?![0.,٫]+$)\d{1,6}(?:[.,٫]\d{1,3})?$/;

/** @returns decimal text with a point, or `null` if it is not a quantity. */
export function readQuantity(typed: string): string | null {
  const text = plainText(typed);
  return QUANTITY.test(text) ? text.replace(/[,٫]/, '.') : null;
}

/** Returns the quantity plus one, even for a weighed item. */
export function plusOne(quantity: LineItem['quantity']): LineItem['quantity'] {
  const [whole = '0', fraction] = String(quantity).split('.');
  const more = Number(whole) + 1;
  return fraction === undefined ? more : `${more}.${fraction}`;
}

/** Returns the quantity less one; `null` if nothing is left of the line. */
export function lessOne(quantity: LineItem['quantity']): LineItem['quantity'] | null {
  const [whole = '0', fraction] = String(quantity).split('.');
  const less = Number(whole) - 1;
  if (less < 0 || (less === 0 && fraction === undefined)) return null;
  return fraction === undefined ? less : `${less}.${fraction}`;
}

/** Returns what a discount takes from a price now. A line below 0 has no discount. */
function takenFrom(price: bigint, { sum, rate }: Pick<Discount, 'sum' | 'rate'>): number {
  if (price <= 0n) return 0;
  return rate === null ? Math.min(sum, Number(price)) : Number(percentOf(price, rate));
}

/** Computes discounts in percent again, and caps each other one at the amount that it reduces. */
export function withinPrices(cart: Cart): Cart {
  const lines = cart.lines.map((line) => {
    const { discount: sum, discount_rate: rate = null } = line;
    return { ...line, discount: takenFrom(fullPrice(line), { sum, rate }) };
  });
  const { discount: sum, discountRate: rate = null } = cart;
  return { ...cart, lines, discount: takenFrom(discountable(lines), { sum, rate }) };
}

/** Identifies a line of a cart: the item, with its options and its price when it was added. */
export function lineKey({ item, name, unit_amount }: CartLine): string {
  return JSON.stringify([item, name, unit_amount]);
}

/** The most characters of a line's name that the service accepts. */
const LONGEST_NAME = 200;

/** Returns the item as it is sold with these options: "Flat white, oat". */
export function withOptions(item: Sellable, options: readonly ItemOption[]): Sellable {
  const name = [item, ...options].map((one) => one.name).join(', ');
  const unit_amount = options.reduce((sum, one) => sum + one.unit_amount, item.unit_amount);
  return { ...item, name: [...name].slice(0, LONGEST_NAME).join(''), unit_amount };
}

/**
 * If the till's currency has changed, starts a new cart, because the old prices are in the old
 * currency.
 */
export function addItem(cart: Cart | null, item: Sellable, currency: string | null): Cart {
  const before = cart?.currency === currency ? cart : { currency, lines: [], discount: 0 };
  const { id, name, unit_amount, tax_rate, tax_inclusive } = item;
  const line = { item: id, name, quantity: 1, unit_amount, tax_rate, tax_inclusive, discount: 0 };
  const there = before.lines.find((one) => lineKey(one) === lineKey(line));
  if (there !== undefined) {
    return changeLine(before, there, { quantity: plusOne(there.quantity) }) ?? before;
  }
  if (before.lines.length >= MOST_LINES) return before;
  return withinPrices({ ...before, lines: [...before.lines, line] });
}

/** Changes a line; `null` removes it. */
export function changeLine(
  cart: Cart,
  changed: CartLine,
  change: Partial<CartLine> | null,
): Cart | null {
  const lines = cart.lines.flatMap((line) => {
    if (lineKey(line) !== lineKey(changed)) return [line];
    return change === null ? [] : [{ ...line, ...change }];
  });
  return lines.length === 0 ? null : withinPrices({ ...cart, lines });
}

export function discountOfLine({ sum, rate, name }: Discount) {
  return { discount: sum, discount_rate: rate, discount_name: name };
}

export function discountSale(cart: Cart, { sum, rate, name }: Discount): Cart {
  return withinPrices({ ...cart, discount: sum, discountRate: rate, discountName: name });
}

/** Returns the lines of the sale. A discount of 0 has neither rate nor name. */
export function saleOf({ lines, discount, discountRate, discountName }: Cart): SaleLines {
  const named = discountName == null ? {} : { discountName };
  const rated = discountRate == null ? {} : { discountRate };
  return { lineItems: lines, discount, ...(discount === 0 ? {} : { ...rated, ...named }) };
}

/**
 * True if a line or the sale has a discount. The cashier's rights or a manager's code must allow
 * it.
 */
export function isDiscounted(cart: Cart): boolean {
  return hasDiscount(saleOf(cart));
}

export function cartTotal(cart: Cart): bigint {
  return salePrice(saleOf(cart));
}

/** Returns the sum of the lines before the sale's discount. */
export function linesTotal({ lines }: Cart): bigint {
  return lines.reduce((sum, line) => sum + linePrice(line), 0n);
}

/** Returns the sum of the lines above 0, which the sale's discount cannot exceed. */
export function mostOff({ lines }: Cart): bigint {
  return discountable(lines);
}

export function lineTotal(line: CartLine): bigint {
  return linePrice(line);
}

/** Returns a line's price before its discount; the discount cannot exceed it. */
export function fullPriceOf(line: Pick<CartLine, 'quantity' | 'unit_amount'>): bigint {
  return fullPrice(line);
}

/** Counts the pieces for display. A weighed item counts as one. */
export function pieces({ lines }: Cart): number {
  return lines.reduce((sum, { quantity }) => {
    const count = Number(quantity);
    return sum + (Number.isInteger(count) ? count : 1);
  }, 0);
}
