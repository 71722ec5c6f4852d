import { type Cart, cartTotal } from './cart.ts';
import { type Charging, createOf } from './charge.ts';
import type { Create } from './phases.ts';

/** Returns the payment that `Charge` requests for a cart. */
export function createOfCart(cart: Cart, charging: Charging): Create {
  const { currency, lines, discount } = cart;
  const create = createOf({ units: cartTotal(cart), currency }, charging);
  const lineItems = lines.map(({ item: _, ...line }) => line);
  return { ...create, splitGroup: null, lines: { lineItems, discount } };
}
