import { digitsOf } from './currency-digits.ts';

/**
 * Writes sums of money, the same on every screen, receipt and mail (behavior.md 23.13). No other
 * module formats them: `test/sums.test.ts`.
 */

const USDC_DECIMALS = 6;
const ONE = 10n ** BigInt(USDC_DECIMALS);
/** Atoms per cent. People read USDC with two decimals. */
export const CENT = ONE / 100n;

/** Writes an integer as a plain decimal, for programs: 250 with two decimals is `2.50`. */
export function plainDecimal(units: bigint | number, decimals: number): string {
  const size = String(units < 0 ? -units : units).padStart(decimals + 1, '0');
  const text = decimals === 0 ? size : `${size.slice(0, -decimals)}.${size.slice(-decimals)}`;
  return `${units < 0 ? '-' : ''}${text}`;
}

/** Writes minor units as a plain decimal: 250 is `2.50` in EUR and `0.250` in KWD. */
export function minorText(amount: bigint | number, currency: string): string {
  return plainDecimal(amount, digitsOf(currency));
}

/**
 * Writes atoms as a plain decimal, as `2.50`, `1000.25` or `0.000001`: with two decimals, or more
 * if they are not zero.
 */
export function exactUsdc(atoms: bigint): string {
  return plainDecimal(atoms, USDC_DECIMALS).replace(/0{1,4}$/, '');
}

/**
 * Writes a decimal in a locale (a BCP 47 tag). Its minus is U+2212 everywhere; the invisible mark
 * that `Intl` writes before it in Arabic keeps it on the left of its digits. Takes text, because a
 * double would round large amounts.
 */
export function localDecimal(
  decimal: string,
  locale: string,
  shape: Intl.NumberFormatOptions,
): string {
  return new Intl.NumberFormat(locale, shape).format(decimal as `${number}`).replace('-', '−');
}

export function withDecimals(decimal: string, locale: string, digits: number, more = {}): string {
  const shape = { minimumFractionDigits: digits, maximumFractionDigits: digits, ...more };
  return localDecimal(decimal, locale, shape);
}

/** Half a cent: a smaller sum would be rounded to 0. */
const HALF = CENT / 2n;

/** Writes atoms without their unit: `6.78`, or `< 0.01` for less than half a cent. */
export function usdcDigits(atoms: bigint, locale: string): string {
  const isSmall = atoms !== 0n && atoms < HALF && atoms > -HALF;
  const digits = withDecimals(plainDecimal(isSmall ? CENT : atoms, USDC_DECIMALS), locale, 2);
  return isSmall ? `${atoms < 0n ? '−' : ''}< ${digits}` : digits;
}

/** Writes all six decimals of USDC. On screens, a label has to say that the sum is exact. */
export function exactDigits(atoms: bigint, locale: string): string {
  return withDecimals(plainDecimal(atoms, USDC_DECIMALS), locale, USDC_DECIMALS);
}

/** A Japanese sentence has few other spaces, so there the space before the unit does not break. */
export function inUsdc(digits: string, locale: string): string {
  return `${digits}${locale.startsWith('ja') ? '\u00a0' : ' '}USDC`;
}

/** Writes atoms with their unit: `6.78 USDC`. */
export function usdcText(atoms: bigint, locale: string): string {
  return inUsdc(usdcDigits(atoms, locale), locale);
}

/**
 * Writes minor units with their currency, for example `€2.50`, `¥250` or `−KWD 2.500`, with the
 * decimals of ISO 4217, from which `Intl` sometimes differs.
 */
export function priceText(
  minor: bigint | number,
  { currency, locale }: { readonly currency: string; readonly locale: string },
): string {
  const money = { style: 'currency', currency } as const;
  return withDecimals(minorText(minor, currency), locale, digitsOf(currency), money);
}

/** Writes an amount of a currency's minor units or, with `null`, of atoms. */
export function sumText(units: bigint, currency: string | null, locale: string): string {
  return currency === null ? usdcText(units, locale) : priceText(units, { currency, locale });
}
