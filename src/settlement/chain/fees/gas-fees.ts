/** The fees that a transaction offers, in wei per gas (EIP-1559). */
export interface Fees {
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

/** The percentile of recent tips that usually gets a transaction into one of the next blocks. */
export const TIP_PERCENTILE = 60;
/** Number of blocks from which the tip is computed. */
export const TIP_BLOCKS = 10;
/** The lowest tip, 0.001 gwei: above zero, so that a replacement can offer more. */
const MIN_TIP = 1_000_000n;
/**
 * The base fee rises by at most 12.5 % a block: twice the current base fee suffices for five full
 * blocks.
 */
const BASE_FEE_HEADROOM = 2n;
/** Nodes accept a replacement if both fees are at least a tenth higher; an eighth is safe. */
const BUMP_NUMERATOR = 9n;
const BUMP_DENOMINATOR = 8n;

/** `recentTips` are the tips paid in recent blocks, in any order. */
export function suggestFees(now: {
  readonly baseFeePerGas: bigint;
  readonly recentTips: readonly bigint[];
  readonly ceiling: bigint;
  /** The highest tip of the chain's profile. */
  readonly highestTip: bigint;
}): Fees {
  const tip = atLeast(atMost(median(now.recentTips), now.highestTip), MIN_TIP);
  return capped(
    { maxFeePerGas: now.baseFeePerGas * BASE_FEE_HEADROOM + tip, maxPriorityFeePerGas: tip },
    now.ceiling,
  );
}

/** Returns the tips of the node whose tips are lowest; `null` if no node answered. */
export function lowerTips(reported: readonly (readonly bigint[])[]): readonly bigint[] | null {
  const known = reported.filter((tips) => tips.length > 0);
  return known.toSorted((a, b) => compare(median(a), median(b)))[0] ?? reported[0] ?? null;
}

/**
 * Returns the fees for a replacement at the same nonce: an eighth more than before, or the
 * suggested fees if those are higher. `null` if the ceiling is below what nodes accept for a
 * replacement; the sender then waits until fees fall.
 */
export function bumpFees(before: Fees, suggested: Fees, ceiling: bigint): Fees | null {
  const fee = bump(before.maxFeePerGas);
  const tip = bump(before.maxPriorityFeePerGas);
  const higher = {
    maxFeePerGas: atLeast(fee, suggested.maxFeePerGas),
    maxPriorityFeePerGas: atLeast(tip, suggested.maxPriorityFeePerGas),
  };
  const offer = capped(higher, ceiling);
  return offer.maxFeePerGas >= fee && offer.maxPriorityFeePerGas >= tip ? offer : null;
}

/** Rounded up, so that small numbers grow too. */
function bump(fee: bigint): bigint {
  return (fee * BUMP_NUMERATOR + BUMP_DENOMINATOR - 1n) / BUMP_DENOMINATOR;
}

function capped(fees: Fees, ceiling: bigint): Fees {
  const maxFeePerGas = atMost(fees.maxFeePerGas, ceiling);
  return { maxFeePerGas, maxPriorityFeePerGas: atMost(fees.maxPriorityFeePerGas, maxFeePerGas) };
}

function median(values: readonly bigint[]): bigint {
  const sorted = values.toSorted(compare);
  return sorted[Math.floor(sorted.length / 2)] ?? 0n;
}

export function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function atLeast(value: bigint, floor: bigint): bigint {
  return value > floor ? value : floor;
}

export function atMost(value: bigint, ceiling: bigint): bigint {
  return value < ceiling ? value : ceiling;
}
