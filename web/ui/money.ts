/** USDC has six decimals. Everywhere but on the screen an amount is a bigint of atoms. */
const DECIMALS = 6;
const ONE = 10n ** BigInt(DECIMALS);
/** Sums of money are read with two decimals; more only where they say something. */
const SHOWN_DECIMALS = 2;
/** behavior.md 5.1: 1,000,000 USDC. */
export const MAX_ATOMS = 1_000_000n * ONE;

/** `2.50`, `1,000.25`, `0.000001`. */
export function formatAtoms(atoms: bigint): string {
  const sign = atoms < 0n ? '−' : '';
  const size = atoms < 0n ? -atoms : atoms;
  const whole = new Intl.NumberFormat('en-US').format(size / ONE);
  const digits = (size % ONE).toString().padStart(DECIMALS, '0');
  const shown = digits.replace(/0+$/, '').padEnd(SHOWN_DECIMALS, '0');
  return `${sign}${whole}.${shown}`;
}

/** What a rounded sum ends with, in atoms. */
const SHOWN_UNIT = 10n ** BigInt(DECIMALS - SHOWN_DECIMALS);

/**
 * `6.78` for 6.780375: as people write money, half a cent rounded up. What is less than half a
 * cent is not 0. `core/money.ts` rounds the headline of a receipt the same way.
 */
export function roundAtoms(atoms: bigint): string {
  if (atoms < 0n) return `−${roundAtoms(-atoms)}`;
  const rounded = ((atoms + SHOWN_UNIT / 2n) / SHOWN_UNIT) * SHOWN_UNIT;
  return rounded === 0n && atoms > 0n ? '< 0.01' : formatAtoms(rounded);
}

/** `2.50 USDC`, for the name of a button. */
export function formatUsdc(atoms: bigint): string {
  return `${formatAtoms(atoms)} USDC`;
}

/**
 * What a person typed: `2.50`, `2,50`, `1,000.00`, `.5`. The last dot or comma separates the
 * decimals, unless a comma is followed by exactly three digits.
 *
 * @returns null for anything that is not an amount, and for more than six decimals.
 */
export function parseAtoms(text: string): bigint | null {
  const trimmed = text.trim().replaceAll(/[\s']/g, '');
  const grouped = /^\d{1,3}(,\d{3})+(\.\d*)?$/.test(trimmed);
  const plain = grouped ? trimmed.replaceAll(',', '') : trimmed.replace(',', '.');
  const [, whole = '', decimals = ''] = /^(\d*)(?:\.(\d*))?$/.exec(plain) ?? [];
  if (`${whole}${decimals}` === '' || decimals.length > DECIMALS) return null;
  return BigInt(whole || '0') * ONE + BigInt(decimals.padEnd(DECIMALS, '0'));
}
