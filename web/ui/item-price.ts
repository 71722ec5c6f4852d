import { plainText, readSum, type SumRules, type TypedSum, writeSum } from './typed-sum.ts';

const MINUS = '−';
const BELOW_ZERO = /^[-−](?=.)/;

/**
 * Parses the price of an item. Unlike other amounts, it may be 0, and below 0 for a returned
 * deposit or a voucher.
 */
export function readItemPrice(text: string, rules: SumRules): TypedSum {
  const { wrote = null } = rules;
  const plain = plainText(text);
  if (!BELOW_ZERO.test(plain)) return readSum(text, { ...rules, allowsZero: true });
  const size = readSum(plain.slice(1), {
    ...{ ...rules, allowsZero: true },
    wrote: wrote !== null && wrote < 0n && text === writeItemPrice(wrote, rules) ? -wrote : null,
  });
  return size.is === 'sum' ? { ...size, units: -size.units } : size;
}

/** Formats the price of an item for its field. */
export function writeItemPrice(units: bigint, rules: SumRules): string {
  return units < 0n ? `${MINUS}${writeSum(-units, rules)}` : writeSum(units, rules);
}
