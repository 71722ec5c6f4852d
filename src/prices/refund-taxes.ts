import { divide, RATE_WHOLE, type RateTax } from '#prices/sale-lines.ts';

/**
 * Computes the taxes of refunds, in minor units of the sale's currency (atoms for a sale in USDC).
 * A refund of a sum returns a part of what the customer paid: from the lines of each rate, and from
 * the tip, which has no tax. Each part is taken in proportion from what earlier refunds left of
 * each rate, and rounded so that
 *
 * - the `gross` amounts of a part add up to the part, minus its share of the tip;
 * - no sum takes a rate below 0, and `net` + `tax` is `gross`;
 * - all parts of a rate add up to the sale's row: the last part is what is left. A rate whose sum
 *   is below 0 is returned by the last part alone.
 */

/** The part of a payment at one tax rate that is not refunded yet. */
interface RateLeft {
  readonly rate: number;
  readonly gross: bigint;
  readonly tax: bigint;
}

/** What is left of a payment: at each rate, lowest first, and with the tip. */
export interface LeftOver {
  readonly rates: readonly RateLeft[];
  readonly all: bigint;
}

/** A refund that has not failed. */
export interface EarlierPart {
  readonly amount: bigint;
  /** `null` for a refund of a sum that an earlier release stored without its taxes. */
  readonly taxes: readonly RateTax[] | null;
}

function toRow({ rate, gross, tax }: RateLeft): RateTax {
  return { rate, net: Number(gross - tax), tax: Number(tax), gross: Number(gross) };
}

function sumOf(rates: readonly Pick<RateLeft, 'gross'>[]): bigint {
  return rates.reduce((sum, { gross }) => sum + gross, 0n);
}

/** Returns what is left of a payment after these refunds. */
export function leftAfter(
  sold: readonly RateTax[],
  whole: bigint,
  refunds: readonly EarlierPart[],
): LeftOver {
  const rates = sold.map(({ rate, gross, tax }) => {
    return { rate, gross: BigInt(gross), tax: BigInt(tax) };
  });
  let left: LeftOver = { rates, all: whole };
  for (const { amount, taxes } of refunds) {
    left = leftWithout(left, { amount, taxes: taxes ?? taxesOfSum(left, amount) });
  }
  return left;
}

function leftWithout(
  { rates, all }: LeftOver,
  { amount, taxes }: { readonly amount: bigint; readonly taxes: readonly RateTax[] },
): LeftOver {
  const gone = new Map(taxes.map((row) => [row.rate, row]));
  return {
    all: all - (amount < all ? amount : all),
    rates: rates.map((row) => {
      const { gross = 0, tax = 0 } = gone.get(row.rate) ?? {};
      return { ...row, gross: row.gross - BigInt(gross), tax: row.tax - BigInt(tax) };
    }),
  };
}

/** Returns the tax table of what is left. */
export function taxesLeft({ rates }: LeftOver): RateTax[] {
  return rates.map(toRow);
}

/** Returns the tax table of a refund of this sum: the sale's rates, each with its part. */
export function taxesOfSum({ rates, all }: LeftOver, part: bigint): RateTax[] {
  if (part >= all) return rates.map(toRow);
  // The rates above 0 and the tip: rates below 0 are left to the last refund.
  const whole = all - sumOf(rates.filter(({ gross }) => gross < 0n));
  let [through, given] = [0n, 0n];
  return rates.map(({ rate, gross, tax }) => {
    if (gross <= 0n) return toRow({ rate, gross: 0n, tax: 0n });
    through += gross;
    // Round the running sum instead of each row, so that the rows add up to the part.
    const upTo = (through * part) / whole;
    const own = upTo - given;
    given = upTo;
    return toRow({ rate, gross: own, tax: divide(tax * own, gross) });
  });
}

/** Returns the tax table of a refund of parts of lines: the rates of these lines. */
export function taxesOfParts(
  { rates, all }: LeftOver,
  parts: ReadonlyMap<number, bigint>,
): RateTax[] {
  const isLast = sumOf([...parts.values()].map((gross) => ({ gross }))) >= all;
  return rates.flatMap((left) => {
    const { rate } = left;
    const gross = isLast ? left.gross : (parts.get(rate) ?? 0n);
    const tax = isLast ? left.tax : taxOfPart(left, gross);
    return gross === 0n && tax === 0n ? [] : [toRow({ rate, gross, tax })];
  });
}

/** Returns the rate's tax that is left × the part ÷ what is left, rounded half up. */
function taxOfPart({ rate, gross: left, tax }: RateLeft, part: bigint): bigint {
  // Lines above and below 0 may add up to nothing.
  if (left === 0n) return divide(part * BigInt(rate), RATE_WHOLE + BigInt(rate));
  return left < 0n ? divide(-tax * part, -left) : divide(tax * part, left);
}
