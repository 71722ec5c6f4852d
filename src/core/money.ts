import { assert } from './assert.ts';

/** USDC atoms (6 decimals): 2_500_000n is 2.50 USDC. Always an integer, never negative. */
export type Atoms = bigint & { readonly __unit: 'atoms' };

/** Smallest and largest amount of one intent or refund (behavior.md 5.1). */
export const MIN_AMOUNT = 1;
export const MAX_AMOUNT = 1_000_000_000_000;

/** Above this a JSON number would lose digits; no balance of a store comes near. */
const MAX_JSON_ATOMS = BigInt(Number.MAX_SAFE_INTEGER);

export const ZERO = 0n as Atoms;

/** @throws Bug when the value is not a whole, non-negative number of atoms. */
export function atoms(value: bigint | number): Atoms {
  if (typeof value === 'number') assert(Number.isSafeInteger(value), 'atoms must be an integer');
  const wide = BigInt(value);
  assert(wide >= 0n, `atoms must not be negative: ${wide}`);
  return wide as Atoms;
}

export function add(...values: readonly Atoms[]): Atoms {
  return values.reduce((sum, value) => sum + value, 0n) as Atoms;
}

/** @throws Bug when the result would be negative: check with a refusal first. */
export function subtract(from: Atoms, what: Atoms): Atoms {
  return atoms(from - what);
}

/** Basis points of an amount, rounded down: the contract's rounding (behavior.md 6.2). */
export function basisPoints(amount: Atoms, points: number): Atoms {
  assert(Number.isInteger(points) && points >= 0 && points <= 10_000, 'basis points out of range');
  return ((amount * BigInt(points)) / 10_000n) as Atoms;
}

/** The JSON integer that goes on the wire. */
export function toJsonAtoms(value: bigint): number {
  assert(value >= 0n && value <= MAX_JSON_ATOMS, 'atoms do not fit a JSON integer');
  return Number(value);
}
