import {
  fullPrice,
  hasDiscount,
  type LineItem,
  linePrice,
  type SaleLines,
  salePrice,
} from '#prices/sale-lines.ts';
import { plainText } from '../ui/typed-sum.ts';

export interface Sellable {
  readonly id: string;
  readonly name: string;
  readonly unit_amount: number;
  readonly tax_rate: number;
  readonly tax_inclusive: boolean;
}

/** A line of the sale. It keeps the price that the item had when it was added. */
export interface CartLine extends LineItem {
  readonly item: string;
}

/**
 * The items of the next sale. Sums are in minor units of `currency`; if that is `null`, in atoms of
 * USDC.
 */
export interface Cart {
  readonly currency: string | null;
  readonly lines: readonly CartLine[];
  /** The discount on the whole sale, in addition to the discounts of its lines. */
  readonly discount: number;
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

/** Caps each discount at the amount that it reduces. */
function within(cart: Cart): Cart {
  const lines = cart.lines.map((line) => {
    const most = Number(fullPrice(line));
    return line.discount > most ? { ...line, discount: most } : line;
  });
  const most = Number(lines.reduce((sum, line) => sum + linePrice(line), 0n));
  return { ...cart, lines, discount: Math.min(cart.discount, most) };
}

/**
 * If the till's currency has changed, starts a new cart, because the old prices are in the old
 * currency.
 */
export function addItem(cart: Cart | null, item: Sellable, currency: string | null): Cart {
  const before = cart?.currency === currency ? cart : { currency, lines: [], discount: 0 };
  const isThere = before.lines.some((line) => line.item === item.id);
  if (isThere) {
    const more = (line: CartLine) => ({ ...line, quantity: plusOne(line.quantity) });
    return {
      ...before,
      lines: before.lines.map((one) => (one.item === item.id ? more(one) : one)),
    };
  }
  if (before.lines.length >= MOST_LINES) return before;
  const { id, name, unit_amount, tax_rate, tax_inclusive } = item;
  const line = { item: id, name, quantity: 1, unit_amount, tax_rate, tax_inclusive, discount: 0 };
  return { ...before, lines: [...before.lines, line] };
}

/** Changes a line's quantity or discount; `null` removes the line. */
export function changeLine(
  cart: Cart,
  item: string,
  change: Partial<Pick<CartLine, 'quantity' | 'discount'>> | null,
): Cart | null {
  const lines = cart.lines.flatMap((line) => {
    if (line.item !== item) return [line];
    return change === null ? [] : [{ ...line, ...change }];
  });
  return lines.length === 0 ? null : within({ ...cart, lines });
}

export function discountSale(cart: Cart, discount: number): Cart {
  return within({ ...cart, discount });
}

function saleOf({ lines, discount }: Cart): SaleLines {
  return { lineItems: lines, discount };
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

/** Returns the sum of the lines before the sale's discount; the discount cannot exceed it. */
export function linesTotal({ lines }: Cart): bigint {
  return lines.reduce((sum, line) => sum + linePrice(line), 0n);
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
