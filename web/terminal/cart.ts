import { fullPrice, type LineItem, linePrice, type SaleLines, salePrice } from '#prices/lines.ts';

/** What of an item of the catalogue a cart takes. */
export interface Sellable {
  readonly id: string;
  readonly name: string;
  readonly unit_amount: number;
  readonly tax_rate: number;
  readonly tax_inclusive: boolean;
}

/** A line of the sale. It keeps the price at which it was put into the cart. */
export interface CartLine extends LineItem {
  readonly item: string;
}

/** What is sold next. Its sums are minor units of the currency; `null`: atoms of USDC. */
export interface Cart {
  readonly currency: string | null;
  readonly lines: readonly CartLine[];
  /** Taken from the whole sale. */
  readonly discount: number;
}

/** behavior.md 23: as many lines as a sale has at most. */
export const MOST_LINES = 100;
const QUANTITY = /^(?![0.,]+$)\d{1,6}(?:[.,]\d{1,3})?$/;

/** Decimal text with a point, of what a person typed; `null`: no quantity. */
export function readQuantity(typed: string): string | null {
  const text = typed.trim();
  return QUANTITY.test(text) ? text.replace(',', '.') : null;
}

/** One more, also of what is weighed. */
export function plusOne(quantity: LineItem['quantity']): LineItem['quantity'] {
  const [whole = '0', fraction] = String(quantity).split('.');
  const more = Number(whole) + 1;
  return fraction === undefined ? more : `${more}.${fraction}`;
}

/** A discount is never more than what it is taken from. */
function within(cart: Cart): Cart {
  const lines = cart.lines.map((line) => {
    const most = Number(fullPrice(line));
    return line.discount > most ? { ...line, discount: most } : line;
  });
  const most = Number(lines.reduce((sum, line) => sum + linePrice(line), 0n));
  return { ...cart, lines, discount: Math.min(cart.discount, most) };
}

/** A cart in another currency than the till's starts over: its prices mean nothing there. */
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

/** With another quantity or discount; without the line where the change is `null`. */
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

/** What the sale comes to, with the tax on top of prices that do not include it. */
export function cartTotal(cart: Cart): bigint {
  return salePrice(saleOf(cart));
}

/** The lines before the discount of the sale: what that can be at most. */
export function linesTotal({ lines }: Cart): bigint {
  return lines.reduce((sum, line) => sum + linePrice(line), 0n);
}

export function lineTotal(line: CartLine): bigint {
  return linePrice(line);
}

/** A line before its discount: what that can be at most. */
export function fullPriceOf(line: Pick<CartLine, 'quantity' | 'unit_amount'>): bigint {
  return fullPrice(line);
}

/** Pieces, for people: what is weighed counts as one. */
export function pieces({ lines }: Cart): number {
  return lines.reduce((sum, { quantity }) => {
    const count = Number(quantity);
    return sum + (Number.isInteger(count) ? count : 1);
  }, 0);
}
