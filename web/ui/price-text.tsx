import type { ReactNode } from 'react';
import { formatPrice, type Price } from './price.ts';

/** A price in the shop's currency. Loaded with the first one: most shops price in USDC. */
export function PriceText({ price }: { readonly price: Price }): ReactNode {
  return <span className="amount">{formatPrice(price)}</span>;
}
