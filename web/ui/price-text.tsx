import type { ReactNode } from 'react';
import { rateText } from '#core/sums.ts';
import { formatPrice, type Price } from './format-price.ts';
import { textLocale } from './text/t.ts';

export interface PriceTextProps {
  readonly price: Price;
  /** The value in USDC. */
  readonly usdc: ReactNode;
}

/**
 * Shows a price in the shop's currency, then its value in USDC and the rate. Loads with the first
 * such price, because most shops price in USDC.
 */
export function PriceText({ price, usdc }: PriceTextProps): ReactNode {
  const { currency, rate } = price;
  return (
    <span className="both-sums">
      <span className="amount">{formatPrice(price)}</span>{' '}
      <span className="of-price">
        {usdc}
        {rate == null ? null : (
          <>
            {' · '}
            <span className="amount">{rateText({ currency, rate }, textLocale())}</span>
          </>
        )}
      </span>
    </span>
  );
}
