import { digitsOf } from './currency-digits.ts';

/**
 * Converts between USDC and a shop's currency at the rate of a quote. The screens use the same
 * functions as the service, so both show the same amount to the minor unit.
 */

/** Number of decimals in a rate (the USDC that one unit of a currency costs). */
export const RATE_DECIMALS = 12;
const USDC_DECIMALS = 6;

/** Parses a rate's decimal text as an integer, scaled by `RATE_DECIMALS`. */
export function readRate(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(RATE_DECIMALS, '0'));
}

/** Writes a rate as decimal text, such as `1.0853`. */
export function writeRate(rate: bigint): string {
  const digits = rate.toString().padStart(RATE_DECIMALS + 1, '0');
  const fraction = digits.slice(-RATE_DECIMALS).replace(/0+$/, '');
  const whole = digits.slice(0, -RATE_DECIMALS);
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** Returns 10^scale in the equation: atoms × 10^scale = rate × minor units. All are integers. */
function scaleOf(currency: string): bigint {
  return 10n ** BigInt(RATE_DECIMALS + digitsOf(currency) - USDC_DECIMALS);
}

/** The currency of a price, and the rate of its quote. */
interface Priced {
  readonly currency: string;
  readonly rate: string;
}

/** Converts minor units to atoms, rounded down. */
export function toAtoms(units: bigint, { currency, rate }: Priced): bigint {
  return (readRate(rate) * units) / scaleOf(currency);
}

/** Returns the ratio by which atoms become minor units: atoms × scale ÷ one. */
export function unitRatio({ currency, rate }: Priced): {
  readonly scale: bigint;
  readonly one: bigint;
} {
  return { scale: scaleOf(currency), one: readRate(rate) };
}

/** Converts minor units to atoms, rounded up: what an offline sale's rate gives. */
export function toAtomsUp(units: bigint, { currency, rate }: Priced): bigint {
  const scale = scaleOf(currency);
  return (readRate(rate) * units + scale - 1n) / scale;
}

/** Converts atoms to minor units, rounded down. */
export function toMinorUnitsDown(value: bigint, { currency, rate }: Priced): number {
  return Number((value * scaleOf(currency)) / readRate(rate));
}

/** Converts atoms to minor units, rounded to the nearest one. */
export function toMinorUnits(value: bigint, { currency, rate }: Priced): number {
  const one = readRate(rate);
  return Number((2n * value * scaleOf(currency) + one) / (2n * one));
}

/** The sums of a price that its payer sees, in minor units. */
export interface PresentTotal {
  /** What the payer pays: price, tip and service fee. */
  readonly total: number;
  /** The service fee: never negative, because a payer pays at least price and tip. */
  readonly fees: number;
}

/**
 * Returns the payer's total in the shop's currency: the larger of price + tip and the atoms that
 * leave the wallet (`paid`), rounded to the nearest minor unit.
 */
export function presentTotal({
  paid,
  tip,
  ...price
}: Priced & { amount: number; tip: number; paid: bigint }): PresentTotal {
  const owed = price.amount + tip;
  const total = Math.max(owed, toMinorUnits(paid, price));
  return { total, fees: total - owed };
}
