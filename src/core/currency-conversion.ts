import { digitsOf } from './currency-digits.ts';

/**
 * Converts between USDC and the shop's currency, by the rate of a quote. The screens compute with
 * the same functions as the service, so both show the same minor unit.
 */

/** Decimals of a rate (USDC for one unit of a currency). */
export const RATE_DECIMALS = 12;
const USDC_DECIMALS = 6;

/** Returns a rate's decimal text as a whole number. */
export function readRate(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(RATE_DECIMALS, '0'));
}

/** Returns the power of ten in: atoms × 10^scale = rate × minor units, both whole numbers. */
function scaleOf(currency: string): bigint {
  return 10n ** BigInt(RATE_DECIMALS + digitsOf(currency) - USDC_DECIMALS);
}

/** A price's currency, and the rate of its quote. */
interface Priced {
  readonly currency: string;
  readonly rate: string;
}

/** Converts minor units to atoms, rounded down. */
export function toAtoms(units: bigint, { currency, rate }: Priced): bigint {
  return (readRate(rate) * units) / scaleOf(currency);
}

/** Converts atoms to minor units, rounded to the nearest. */
export function toMinorUnits(value: bigint, { currency, rate }: Priced): number {
  const one = readRate(rate);
  return Number((2n * value * scaleOf(currency) + one) / (2n * one));
}
