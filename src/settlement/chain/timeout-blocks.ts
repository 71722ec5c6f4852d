import type { NetworkConfig } from '#settlement/networks.ts';

/**
 * How many blocks last as long as `blocks` of them at `minBlockMs` each; never fewer. `intervalMs`:
 * the measured block interval; `null`: the profile's, if it has one.
 */
export function blocksLasting(
  { minBlockMs, profile }: Pick<NetworkConfig, 'minBlockMs' | 'profile'>,
  { blocks, intervalMs = null }: { readonly blocks: number; readonly intervalMs?: number | null },
): bigint {
  const each = intervalMs ?? profile.blockMs ?? minBlockMs;
  // Measured times are off by some milliseconds, which must not cost a block.
  const times = Math.max(1, (minBlockMs * ALMOST) / each);
  return BigInt(Math.ceil(blocks * times));
}

const ALMOST = 0.95;
