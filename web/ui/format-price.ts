import { digitsOf } from '#core/currency-digits.ts';
import { priceText } from '#core/sums.ts';
import { typedUsdc } from './format-usdc.ts';
import { textLocale } from './text/t.ts';
import type { SumRules } from './typed-sum.ts';

/** An amount in the minor units of the currency in which a shop priced a sale. */
export interface Price {
  readonly currency: string;
  readonly units: bigint;
  /** USDC for one unit, if the sum in USDC below the price shows the rate. */
  readonly rate?: string | null;
}

export function formatPrice({ currency, units }: Price): string {
  return priceText(units, { currency, locale: textLocale() });
}

/** Returns the rules for typed amounts of a currency; `null` stands for USDC. */
export function sumRules(currency: string | null): SumRules {
  return currency === null ? {} : { decimals: digitsOf(currency) };
}

/** Formats a typed amount: in minor units of a currency, or in atoms of USDC. */
export function formatMoney(units: bigint, currency: string | null): string {
  return currency === null ? typedUsdc(units) : formatPrice({ currency, units });
}
