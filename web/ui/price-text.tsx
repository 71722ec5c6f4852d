import type { ReactNode } from 'react';
import { rateText } from '#core/rate-text.ts';
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
            <bdi>{rateWords({ currency, rate })}</bdi>
          </>
        )}
      </span>
    </span>
  );
}

/** Formats a rate, for example `€1 = 1.0854 USDC`. */
export function rateWords(quoted: { readonly currency: string; readonly rate: string }): string {
  return rateText(quoted, textLocale());
}
