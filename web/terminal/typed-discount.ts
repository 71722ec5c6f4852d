import { percentOf, RATE_WHOLE } from '#prices/sale-lines.ts';
import { formatMoney, sumRules } from '../ui/format-price.ts';
import { rateText } from '../ui/percent.ts';
import { t } from '../ui/text/t.ts';
import { readSum, writeSum } from '../ui/typed-sum.ts';
import { type Discount, NO_DISCOUNT } from './cart.ts';

const PERCENT = /^[%٪％]|[%٪％]$/;
/** Marks of the writing direction, which Arabic puts beside a percent sign. */
const MARKS = /[\u061c\u200e\u200f]/g;

/** `takes` is what the discount takes off. */
export type TypedDiscount =
  | { readonly is: 'discount'; readonly discount: Discount; readonly takes: bigint }
  | { readonly is: 'refused'; readonly words: string };

export interface Reduced {
  readonly currency: string | null;
  /** The sum that the discount reduces. */
  readonly most: bigint;
  /** The sum that the form wrote into the field; `null` if it wrote a percentage. */
  readonly wrote: bigint | null;
}

/** Reads a sum, or a percentage such as `12 %`. An empty field means no discount. */
export function readDiscount(text: string, { currency, most, wrote }: Reduced): TypedDiscount {
  const plain = text.replaceAll(MARKS, '').trim();
  const isPercent = PERCENT.test(plain);
  const rules = isPercent ? { decimals: 2 } : { ...sumRules(currency), wrote };
  const read = readSum(plain.replace(PERCENT, ''), rules);
  if (read.is === 'refused') return read;
  if (read.is === 'empty' && !isPercent)
    return { is: 'discount', discount: NO_DISCOUNT, takes: 0n };
  if (read.is === 'empty' || (isPercent && read.units > RATE_WHOLE)) {
    return { is: 'refused', words: t('percent.invalid') };
  }
  const rate = isPercent ? Number(read.units) : null;
  const takes = rate === null ? read.units : percentOf(most, rate);
  if (takes > most) {
    const words = t('till.cart.problem.discount', { sum: formatMoney(most, currency) });
    return { is: 'refused', words };
  }
  return { is: 'discount', discount: { sum: Number(takes), rate, name: null }, takes };
}

/** Writes a discount for its field. */
export function writeDiscount(
  { sum, rate }: Omit<Discount, 'name'>,
  currency: string | null,
): string {
  if (rate !== null) return rateText(rate);
  return sum === 0 ? '' : writeSum(BigInt(sum), sumRules(currency));
}
