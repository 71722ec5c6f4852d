import { CENT, exactDigits, inUsdc, usdcDigits, usdcText } from '#core/sums.ts';
import { textLocale } from './text/t.ts';

/** The largest amount of a payment: 1,000,000 USDC (behavior.md 5.1). */
export const MAX_ATOMS = 1_000_000_000_000n;

/** Formats atoms without their unit, for example `6.78` for 6.780375. */
export function formatAtoms(atoms: bigint): string {
  return usdcDigits(atoms, textLocale());
}

/** Formats atoms with their unit, for example `6.78 USDC`. */
export function formatUsdc(atoms: bigint): string {
  return usdcText(atoms, textLocale());
}

/** Formats all six decimals, below a label that says so. */
export function exactUsdcText(atoms: bigint): string {
  return inUsdc(exactDigits(atoms, textLocale()), textLocale());
}

/** Formats an amount that a person types, or may type at most: never rounded. */
export function typedUsdc(atoms: bigint): string {
  return atoms % CENT === 0n ? formatUsdc(atoms) : exactUsdcText(atoms);
}
