/**
 * How the limits of offline sales count a sale. The till and the service use the same functions, so
 * that a sale within the till's limits is within the service's.
 */

/** A sale's price in the shop's currency, at the rate and margin of the till's terms. */
export interface CountedPrice {
  readonly currency: string;
  /** Minor units. */
  readonly amount: number;
  /** Basis points by which the rate was raised. */
  readonly margin: number;
}

/** A sum of sales: those in the currency of the limits, in minor units, and all others in atoms. */
export interface OfflineSum {
  readonly units: bigint;
  readonly atoms: bigint;
}

export const NO_SUM: OfflineSum = { units: 0n, atoms: 0n };

const ALL_POINTS = 10_000n;

/** Returns what a sale counts against limits that were set in `currency`; `null` for USDC. */
export function countedSum(
  sale: { readonly amount: bigint; readonly presentment: CountedPrice | null },
  currency: string | null,
): OfflineSum {
  const { amount, presentment } = sale;
  if (presentment === null) return { units: 0n, atoms: amount };
  if (presentment.currency === currency) return { units: BigInt(presentment.amount), atoms: 0n };
  const atoms = (amount * ALL_POINTS) / (ALL_POINTS + BigInt(presentment.margin));
  return { units: 0n, atoms };
}

export function addSums(one: OfflineSum, other: OfflineSum): OfflineSum {
  return { units: one.units + other.units, atoms: one.atoms + other.atoms };
}

/**
 * True if a sum is above a limit, which is stored in atoms and, if it was set in the shop's
 * currency, in its minor units. Each part of a mixed sum uses up its share of the limit.
 */
export function isAboveLimit(
  { units, atoms }: OfflineSum,
  most: { readonly atoms: number; readonly units: number | null },
): boolean {
  if (most.units === null) return atoms > BigInt(most.atoms);
  const [mostAtoms, mostUnits] = [BigInt(most.atoms), BigInt(most.units)];
  return units * mostAtoms + atoms * mostUnits > mostUnits * mostAtoms;
}
