import { formatNumber, percentText } from './numbers.ts';
import { textLocale } from './text/t.ts';
import { readSum, sumIn } from './typed-sum.ts';

/** 100 % in basis points. */
const WHOLE = 10_000;
/** A basis point is a hundredth of a percent. */
const PER_PERCENT = 100;
const DECIMALS = 2;

/**
 * Parses a typed percentage, for example `7`, `7.5` or `7,5`, by the rules for typed amounts.
 * @returns basis points; `null` if it is empty, malformed or above 100 %.
 */
export function readPercent(text: string): number | null {
  const units = sumIn(readSum(text, { decimals: DECIMALS, allowsZero: true }));
  return units === null || units > WHOLE ? null : Number(units);
}

/** Formats a percentage for an input field, for example `7` or `7.5`. */
export function writePercent(basisPoints: number): string {
  return new Intl.NumberFormat(textLocale(), {
    numberingSystem: 'latn',
    useGrouping: false,
    maximumFractionDigits: DECIMALS,
  }).format(basisPoints / PER_PERCENT);
}

/** Formats a rate, for example `7.5 %`. */
export function rateText(basisPoints: number): string {
  const number = formatNumber(basisPoints / PER_PERCENT, { maximumFractionDigits: DECIMALS });
  return percentText(number);
}
