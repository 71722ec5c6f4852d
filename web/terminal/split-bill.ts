/** A bill that several people pay: one payment per part, with the same `split_group`. */
export interface Split {
  readonly group: string;
  /** The currency of its sums, in minor units; `null` for atoms of USDC. */
  readonly currency: string | null;
  readonly total: bigint;
  readonly paid: bigint;
  /** Amounts still to be charged. Empty if the cashier enters each amount. */
  readonly parts: readonly bigint[];
  readonly paidParts: number;
}

export const MOST_PARTS = 20;
/** Parts in USDC are whole cents if the bill is in whole cents. */
const CENT = 10_000n;

/**
 * Splits a total into parts as equal as whole cents, or the currency's minor units, allow. The
 * first parts take the remainder; the parts add up to the total.
 */
export function equalParts(total: bigint, count: number, currency: string | null = null): bigint[] {
  const unit = currency === null && total % CENT === 0n ? CENT : 1n;
  const units = total / unit;
  const each = units / BigInt(count);
  const more = Number(units % BigInt(count));
  return Array.from({ length: count }, (_, i) => (each + (i < more ? 1n : 0n)) * unit);
}

export function remaining({ total, paid }: Split): bigint {
  return total - paid;
}

/** Returns the amount that the keypad suggests next. */
export function nextPart(split: Split): bigint {
  return split.parts[0] ?? remaining(split);
}

/** Returns the split after a part was paid (tip not included), or `null` once nothing is left. */
export function afterPart(split: Split, amount: bigint): Split | null {
  const paid = split.paid + amount;
  if (paid >= split.total) return null;
  const [first, ...others] = split.parts;
  const asProposed = first === amount;
  // If the cashier charged another amount than the suggested one, the cashier also enters the rest.
  const parts = asProposed ? others : [];
  return { ...split, paid, parts, paidParts: split.paidParts + 1 };
}
