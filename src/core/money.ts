import { assert } from './assert.ts';
import { decimalText } from './currency-digits.ts';

/** USDC atoms (6 decimals): 2_500_000n is 2.50 USDC. Always an integer and never negative. */
export type Atoms = bigint & { readonly __unit: 'atoms' };

/** Smallest and largest amount of one intent or refund (behavior.md 5.1). */
export const MIN_AMOUNT = 1;
export const MAX_AMOUNT = 1_000_000_000_000;

/** JSON numbers above this lose digits. No shop's balance comes near it. */
const MAX_JSON_ATOMS = BigInt(Number.MAX_SAFE_INTEGER);

export const ZERO = 0n as Atoms;

/** @throws Bug if the value is not a non-negative integer */
export function atoms(value: bigint | number): Atoms {
  if (typeof value === 'number') assert(Number.isSafeInteger(value), 'atoms must be an integer');
  const wide = BigInt(value);
  assert(wide >= 0n, `atoms must not be negative: ${wide}`);
  return wide as Atoms;
}

export function add(...values: readonly Atoms[]): Atoms {
  return values.reduce((sum, value) => sum + value, 0n) as Atoms;
}

/** @throws Bug if the result would be negative, so refuse such a request first */
export function subtract(from: Atoms, what: Atoms): Atoms {
  return atoms(from - what);
}

/**
 * Returns a share of an amount, given in basis points and rounded down as in the contract
 * (behavior.md 6.2).
 */
export function basisPoints(amount: Atoms, points: number): Atoms {
  assert(Number.isInteger(points) && points >= 0 && points <= 10_000, 'basis points out of range');
  return ((amount * BigInt(points)) / 10_000n) as Atoms;
}

export function toJsonAtoms(value: bigint): number {
  assert(value >= 0n && value <= MAX_JSON_ATOMS, 'atoms do not fit a JSON integer');
  return Number(value);
}

/** USDC has six decimals. */
const DECIMALS = 6;
const ONE = 10n ** BigInt(DECIMALS);
/** Atoms per cent, the smallest unit in headlines. */
const CENT = ONE / 100n;

/**
 * Formats exactly, as `2.50`, `1000.25` or `0.000001`: with two decimals, or more if they are not
 * zero.
 */
export function exactUsdc(value: bigint): string {
  const sign = value < 0n ? '-' : '';
  const size = value < 0n ? -value : value;
  const digits = (size % ONE).toString().padStart(DECIMALS, '0');
  return `${sign}${size / ONE}.${digits.replace(/0+$/, '').padEnd(2, '0')}`;
}

/** Adds the digit grouping of a locale (a BCP 47 tag): `1000.25` becomes `1,000.25`. */
function grouped(decimal: string, locale: string): string {
  const digits = decimal.length - decimal.indexOf('.') - 1;
  const shape = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  return decimalText(decimal, locale, shape);
}

/**
 * Formats every digit, with grouping: `−1,000.25`. Three decimals become four (`2.005` is
 * `2.0050`), because three look like a group of thousands, and forms refuse such a number as
 * ambiguous.
 */
export function readableUsdc(value: bigint, locale = 'en'): string {
  const decimal = exactUsdc(value);
  const isWhole = value >= ONE || value <= -ONE;
  return grouped(isWhole && /\.\d{3}$/.test(decimal) ? `${decimal}0` : decimal, locale);
}

/**
 * Returns the smallest and the largest amount that a screen shows as this one. Screens round to
 * cents, so an amount of whole cents stands for every amount that rounds to it; any other amount
 * stands only for itself.
 */
export function shownAs(amount: bigint): { readonly least: bigint; readonly most: bigint } {
  if (amount % CENT !== 0n) return { least: amount, most: amount };
  return { least: amount - CENT / 2n, most: amount + CENT / 2n - 1n };
}

/**
 * Formats with two decimals for a headline; half a cent is rounded up. A positive amount below half
 * a cent is shown as `< 0.01` rather than 0.
 */
export function headlineUsdc(value: bigint, locale = 'en'): string {
  const cents = (value + CENT / 2n) / CENT;
  if (cents === 0n && value > 0n) return `< ${grouped('0.01', locale)}`;
  return grouped(`${cents / 100n}.${(cents % 100n).toString().padStart(2, '0')}`, locale);
}
