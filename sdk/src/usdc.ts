import { UsageError } from './error-classes.ts';

const DECIMALS = 6;
const AMOUNT = /^(\d{1,9})(?:\.(\d{1,6}))?$/;

/**
 * Converts USDC to atoms: `usdc('2.50')` is 2500000. It takes a string, because 0.1 + 0.2 is not
 * 0.3.
 */
export function usdc(amount: string): number {
  const parts = typeof amount === 'string' ? AMOUNT.exec(amount) : null;
  if (parts === null) {
    const given = typeof amount === 'string' ? `'${amount}'` : `the ${typeof amount} ${amount}`;
    throw new UsageError(
      `usdc() received ${given}. It takes a string with up to 6 decimals: usdc('2.50').`,
    );
  }
  const [, whole = '', fraction = ''] = parts;
  return Number(whole + fraction.padEnd(DECIMALS, '0'));
}

/** Converts atoms to USDC, with at least two decimals: `formatUsdc(2500000)` is '2.50'. */
export function formatUsdc(atoms: number): string {
  if (!Number.isSafeInteger(atoms)) throw new UsageError(`${atoms} is not a number of atoms.`);
  const digits = String(Math.abs(atoms)).padStart(DECIMALS + 1, '0');
  const fraction = digits.slice(-DECIMALS).replace(/0{1,4}$/, '');
  return `${atoms < 0 ? '-' : ''}${digits.slice(0, -DECIMALS)}.${fraction}`;
}
