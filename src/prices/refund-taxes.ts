import { type RateTax, type SaleLines, taxTable } from '#prices/sale-lines.ts';

/**
 * Computes the taxes of refunds. A refund returns a part of what the customer paid: from the lines
 * of each rate, and from the tip, which has no tax. Each part is taken in proportion from what
 * earlier refunds left of each rate, and rounded so that
 *
 * - the `gross` amounts of a part add up to the part, minus its share of the tip;
 * - no rate is ever below 0, and `net` + `tax` is `gross`;
 * - all parts of a rate add up to the sale's row: the last part is what is left.
 */

/** The refunds of a sale, in minor units of its currency (atoms for a sale in USDC). */
export interface Returned {
  /** The amount that the customer paid, including the tip. */
  readonly whole: bigint;
  /** The amounts of the refunds booked before this one, in order. */
  readonly before: readonly bigint[];
  readonly part: bigint;
  /** True if nothing is left of the payment after this refund. */
  readonly isLast: boolean;
}

/** The part of a payment at one tax rate that is not refunded yet. */
interface Left {
  readonly rate: number;
  readonly gross: bigint;
  readonly tax: bigint;
}

/** Returns a share, rounded half up; 0 if `whole` is 0. */
function share(value: bigint, part: bigint, whole: bigint): bigint {
  return whole === 0n ? 0n : (2n * value * part + whole) / (2n * whole);
}

/** Returns each row's share of a refund of `part`, when `all` is left to refund. */
function taken(rows: readonly Left[], part: bigint, all: bigint): Left[] {
  let [through, given] = [0n, 0n];
  return rows.map(({ rate, gross, tax }) => {
    through += gross;
    // Round the running sum instead of each row, so that the rows add up to the part.
    const upTo = all === 0n ? 0n : (through * part) / all;
    const own = upTo - given;
    given = upTo;
    return { rate, gross: own, tax: share(tax, own, gross) };
  });
}

/** Returns one refund's tax table: the sale's rates, each with the part that is refunded. */
export function refundTaxes(sale: SaleLines, { whole, before, part, isLast }: Returned): RateTax[] {
  let rows = taxTable(sale).map(({ rate, gross, tax }): Left => {
    return { rate, gross: BigInt(gross), tax: BigInt(tax) };
  });
  let all = whole;
  for (const earlier of before) {
    const gone = earlier < all ? earlier : all;
    const parts = taken(rows, gone, all);
    rows = rows.map(({ rate, gross, tax }, index) => {
      const { gross: ownGross = 0n, tax: ownTax = 0n } = parts[index] ?? {};
      return { rate, gross: gross - ownGross, tax: tax - ownTax };
    });
    all -= gone;
  }
  const own = isLast || part > all ? all : part;
  return taken(rows, own, all).map(({ rate, gross, tax }) => {
    return { rate, net: Number(gross - tax), tax: Number(tax), gross: Number(gross) };
  });
}
