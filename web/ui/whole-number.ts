import { plainText } from './typed-sum.ts';

/**
 * Parses a typed whole number.
 * @returns `null` if the text is anything else, or a number that a double would round.
 */
export function readWhole(text: string): number | null {
  const digits = plainText(text);
  const number = /^\d+$/.test(digits) ? Number(digits) : Number.NaN;
  return Number.isSafeInteger(number) ? number : null;
}
