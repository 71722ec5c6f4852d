import { assert } from './assert.ts';
import { CENT } from './sums.ts';

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

/**
 * Returns the smallest and the largest amount that a screen shows as this one. Screens round to
 * cents, so an amount of whole cents stands for every amount that rounds to it; any other amount
 * stands only for itself.
 */
export function shownAs(amount: bigint): { readonly least: bigint; readonly most: bigint } {
  if (amount % CENT !== 0n) return { least: amount, most: amount };
  return { least: amount - CENT / 2n, most: amount + CENT / 2n - 1n };
}
