/** A bill that several people pay: one payment per part, all with the same group. */
export interface Split {
  readonly group: string;
  readonly total: bigint;
  readonly paid: bigint;
  /** Amounts that are still to be charged; empty when the cashier names each one. */
  readonly parts: readonly bigint[];
  /** How many parts have been paid. */
  readonly paidParts: number;
}

export const MOST_PARTS = 20;
/** Parts are whole cents where the bill is. */
const CENT = 10_000n;

/** As equal as whole cents allow; the first ones pay what is left over. Together: the total. */
export function equalParts(total: bigint, count: number): bigint[] {
  const unit = total % CENT === 0n ? CENT : 1n;
  const units = total / unit;
  const each = units / BigInt(count);
  const more = Number(units % BigInt(count));
  return Array.from({ length: count }, (_, i) => (each + (i < more ? 1n : 0n)) * unit);
}

export function remaining({ total, paid }: Split): bigint {
  return total - paid;
}

/** What the keypad proposes next. */
export function nextPart(split: Split): bigint {
  return split.parts[0] ?? remaining(split);
}

/** After a part was paid, without its tip; null once nothing is left. */
export function afterPart(split: Split, amount: bigint): Split | null {
  const paid = split.paid + amount;
  if (paid >= split.total) return null;
  const [first, ...others] = split.parts;
  const asProposed = first === amount;
  // Another amount than proposed: the rest is for the cashier to name.
  const parts = asProposed ? others : [];
  return { ...split, paid, parts, paidParts: split.paidParts + 1 };
}
