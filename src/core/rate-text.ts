import { RATE_DECIMALS, readRate } from './currency-conversion.ts';
import { inUsdc, localDecimal, plainDecimal, withDecimals } from './sums.ts';

/** People compare rates by these digits. */
const RATE_DIGITS = 5;
const SIGNIFICANT = {
  minimumSignificantDigits: RATE_DIGITS,
  maximumSignificantDigits: RATE_DIGITS,
};
/** A unit that is worth less than 0.1 USDC: its rate is turned. */
const TURNED_BELOW = 10n ** BigInt(RATE_DECIMALS - 1);

/** Writes a rate of USDC for one unit: `€1 = 1.0854 USDC` or, turned, `1 USDC = ¥152.35`. */
export function rateText(
  { currency, rate }: { readonly currency: string; readonly rate: string },
  locale: string,
): string {
  const money = { style: 'currency', currency } as const;
  const one = readRate(rate);
  if (one >= TURNED_BELOW) {
    const unit = withDecimals('1', locale, 0, money);
    return `${unit} = ${inUsdc(localDecimal(rate, locale, SIGNIFICANT), locale)}`;
  }
  const turned = plainDecimal(10n ** BigInt(2 * RATE_DECIMALS) / one, RATE_DECIMALS);
  return `${inUsdc('1', locale)} = ${localDecimal(turned, locale, { ...money, ...SIGNIFICANT })}`;
}
