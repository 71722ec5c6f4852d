import { type Cart, cartTotal } from './cart.ts';
import { type Charging, createOf } from './charge.ts';
import type { Create } from './till-phases.ts';

export function createOfCart(
  cart: Cart,
  charging: Charging & { readonly managerCode: string | null },
): Create {
  const { currency, lines, discount } = cart;
  const create = createOf({ units: cartTotal(cart), currency }, charging);
  const lineItems = lines.map(({ item: _, ...line }) => line);
  const { managerCode } = charging;
  return { ...create, splitGroup: null, lines: { lineItems, discount }, managerCode };
}
