import { decimalText } from '#core/currency-digits.ts';
import { textLanguage, textLocale } from './text/t.ts';

/** The number of decimals of USDC. Amounts are bigints of atoms everywhere but on screen. */
const DECIMALS = 6;
const ONE = 10n ** BigInt(DECIMALS);
/** Amounts show two decimals, or more if the others are not zero. */
const SHOWN_DECIMALS = 2;
/** The largest amount of a payment: 1,000,000 USDC (behavior.md 5.1). */
export const MAX_ATOMS = 1_000_000n * ONE;

/** Digits in a group. After a whole number other than 0, three decimals would look like a group. */
const GROUP = 3;

/**
 * Formats atoms, for example as `2.50`, `1,000.25` or `0.000001`. 2.005 becomes `2.0050`, since
 * `2.005` would be refused as ambiguous input.
 */
export function formatAtoms(atoms: bigint): string {
  const size = atoms < 0n ? -atoms : atoms;
  const digits = (size % ONE).toString().padStart(DECIMALS, '0');
  const needed = digits.replace(/0+$/, '').padEnd(SHOWN_DECIMALS, '0');
  const shown = needed.length === GROUP && size >= ONE ? `${needed}0` : needed;
  return decimalText(`${atoms < 0n ? '-' : ''}${size / ONE}.${shown}`, textLocale(), {
    minimumFractionDigits: shown.length,
    maximumFractionDigits: shown.length,
  });
}

/** The unit of rounded amounts, in atoms. */
const SHOWN_UNIT = 10n ** BigInt(DECIMALS - SHOWN_DECIMALS);

/** Returns the nearest cent, with half a cent rounded up: the amount that users see. */
export function nearestCent(atoms: bigint): bigint {
  return ((atoms + SHOWN_UNIT / 2n) / SHOWN_UNIT) * SHOWN_UNIT;
}

/**
 * Rounds and formats atoms, for example `6.78` for 6.780375, with half a cent rounded up. An amount
 * below half a cent is not shown as 0. `core/money.ts` rounds a receipt's headline in the same way.
 */
export function roundAtoms(atoms: bigint): string {
  const size = nearestCent(atoms < 0n ? -atoms : atoms);
  if (size > 0n || atoms === 0n) return formatAtoms(atoms < 0n ? -size : size);
  return `${atoms < 0n ? '−' : ''}< ${formatAtoms(SHOWN_UNIT)}`;
}

/** Formats atoms with their unit, for example `2.50 USDC`, for a button's label. */
export function formatUsdc(atoms: bigint): string {
  return withUnit(formatAtoms(atoms));
}

/** Rounds and formats atoms with their unit, for example `6.78 USDC`. */
export function roundUsdc(atoms: bigint): string {
  return withUnit(roundAtoms(atoms));
}

/** A Japanese sentence has few other spaces, so there the space before the unit does not break. */
function withUnit(sum: string): string {
  return `${sum}${textLanguage() === 'ja' ? '\u00a0' : ' '}USDC`;
}
