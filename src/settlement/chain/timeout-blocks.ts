import type { NetworkConfig } from '#settlement/networks.ts';

/**
 * Returns how many blocks last as long as `blocks` of them at `minBlockMs` each; never fewer than
 * `blocks`. `intervalMs` is the measured block interval; `null` uses the profile's, if it has one.
 */
export function blocksLasting(
  { minBlockMs, profile }: Pick<NetworkConfig, 'minBlockMs' | 'profile'>,
  { blocks, intervalMs = null }: { readonly blocks: number; readonly intervalMs?: number | null },
): bigint {
  const each = intervalMs ?? profile.blockMs ?? minBlockMs;
  // Measured intervals are off by some milliseconds, which must not add a block.
  const times = Math.max(1, (minBlockMs * ALMOST) / each);
  return BigInt(Math.ceil(blocks * times));
}

const ALMOST = 0.95;
