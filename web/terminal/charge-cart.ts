import { type Cart, cartTotal, saleOf } from './cart.ts';
import { type Charging, createOf } from './charge.ts';
import type { Create } from './till-phases.ts';

export function createOfCart(
  cart: Cart,
  charging: Charging & { readonly managerCode: string | null },
): Create {
  const { currency } = cart;
  const create = createOf({ units: cartTotal(cart), currency }, charging);
  const { managerCode } = charging;
  return { ...create, splitGroup: null, lines: saleOf(cart), managerCode };
}
