import { textLocale } from './text/t.ts';

/** USDC has six decimals. Everywhere but on the screen an amount is a bigint of atoms. */
const DECIMALS = 6;
const ONE = 10n ** BigInt(DECIMALS);
/** Sums of money are read with two decimals; more only where they say something. */
const SHOWN_DECIMALS = 2;
/** behavior.md 5.1: 1,000,000 USDC. */
export const MAX_ATOMS = 1_000_000n * ONE;

/** Behind a whole number that is not 0, three decimals look like a group. */
const GROUP = 3;

/** `2.50`, `1,000.25`, `0.000001`; `2.0050`, since `2.005` cannot be typed back. */
export function formatAtoms(atoms: bigint): string {
  const sign = atoms < 0n ? '−' : '';
  const size = atoms < 0n ? -atoms : atoms;
  const digits = (size % ONE).toString().padStart(DECIMALS, '0');
  const needed = digits.replace(/0+$/, '').padEnd(SHOWN_DECIMALS, '0');
  const shown = needed.length === GROUP && size >= ONE ? `${needed}0` : needed;
  const format = new Intl.NumberFormat(textLocale(), {
    minimumFractionDigits: shown.length,
    maximumFractionDigits: shown.length,
  });
  // Text, not a number: a double would round the sums that are large.
  return `${sign}${format.format(`${size / ONE}.${shown}` as `${number}`)}`;
}

/** What a rounded sum ends with, in atoms. */
const SHOWN_UNIT = 10n ** BigInt(DECIMALS - SHOWN_DECIMALS);

/** To the nearest cent, half a cent up: what people see of a sum. */
export function nearestCent(atoms: bigint): bigint {
  return ((atoms + SHOWN_UNIT / 2n) / SHOWN_UNIT) * SHOWN_UNIT;
}

/**
 * `6.78` for 6.780375: as people write money, half a cent rounded up. What is less than half a
 * cent is not 0. `core/money.ts` rounds the headline of a receipt the same way.
 */
export function roundAtoms(atoms: bigint): string {
  if (atoms < 0n) return `−${roundAtoms(-atoms)}`;
  const rounded = nearestCent(atoms);
  return rounded === 0n && atoms > 0n ? `< ${formatAtoms(SHOWN_UNIT)}` : formatAtoms(rounded);
}

/** `2.50 USDC`, for the name of a button. */
export function formatUsdc(atoms: bigint): string {
  return `${formatAtoms(atoms)} USDC`;
}
