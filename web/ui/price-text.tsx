import type { ReactNode } from 'react';
import { formatPrice, type Price } from './format-price.ts';

/**
 * Shows a price in the shop's currency. Loads with the first such price, because most shops price
 * in USDC.
 */
export function PriceText({ price }: { readonly price: Price }): ReactNode {
  return <span className="amount">{formatPrice(price)}</span>;
}
