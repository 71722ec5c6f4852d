import { discountable, thousandths } from '#prices/sale-lines.ts';
import { quantityOf } from '../ui/quantity-text.ts';
import { type Cart, type CartLine, lineKey, withinPrices } from './cart.ts';

/** A part of a cart to charge first, and the rest. */
export interface CartParts {
  readonly part: Cart;
  readonly rest: Cart;
}

/** Returns this share of a line. The first share of its discount is rounded down. */
function shareOf(line: CartLine, chosen: bigint, isRest: boolean): CartLine[] {
  const whole = thousandths(line.quantity);
  const first = (BigInt(line.discount) * chosen) / whole;
  const quantity = isRest ? whole - chosen : chosen;
  const discount = isRest ? BigInt(line.discount) - first : first;
  return quantity === 0n
    ? []
    : [{ ...line, quantity: quantityOf(quantity), discount: Number(discount) }];
}

/**
 * Splits a cart by items. Discounts in percent hold for both parts; a sum is divided in proportion.
 * @param chosen Of each line, in thousandths.
 * @returns `null` unless something is chosen and something stays.
 */
export function splitCart(cart: Cart, chosen: readonly bigint[]): CartParts | null {
  const lines = (isRest: boolean) =>
    cart.lines.flatMap((line, at) => shareOf(line, chosen[at] ?? 0n, isRest));
  const [first, others] = [lines(false), lines(true)];
  if (first.length === 0 || others.length === 0) return null;
  const whole = discountable(cart.lines);
  const discount = BigInt(cart.discount);
  const share = whole === 0n ? 0n : (discount * discountable(first)) / whole;
  return {
    part: withinPrices({ ...cart, lines: first, discount: Number(share) }),
    rest: withinPrices({ ...cart, lines: others, discount: Number(discount - share) }),
  };
}

/** Puts a part back to the rest of its cart, which decides about a discount in percent. */
export function joinCarts({ part, rest }: CartParts): Cart {
  const joined = new Map(rest.lines.map((line) => [lineKey(line), line]));
  for (const line of part.lines) {
    const there = joined.get(lineKey(line)) ?? { ...line, quantity: 0, discount: 0 };
    const quantity = quantityOf(thousandths(there.quantity) + thousandths(line.quantity));
    joined.set(lineKey(line), { ...there, quantity, discount: there.discount + line.discount });
  }
  const discount = rest.discount + part.discount;
  return withinPrices({ ...rest, lines: [...joined.values()], discount });
}
