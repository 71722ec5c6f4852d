import type { NetworkConfig } from '#settlement/networks.ts';

/**
 * Returns how many blocks last as long as `blocks` of them at `minBlockMs` each; at least `blocks`.
 * `intervalMs` is the measured interval; for `null` the profile's is used, if it has one.
 */
export function blocksLasting(
  { minBlockMs, profile }: Pick<NetworkConfig, 'minBlockMs' | 'profile'>,
  { blocks, intervalMs = null }: { readonly blocks: number; readonly intervalMs?: number | null },
): bigint {
  const each = intervalMs ?? profile.blockMs ?? minBlockMs;
  // Measured intervals deviate by milliseconds, which must not add a block.
  const times = Math.max(1, (minBlockMs * ALMOST) / each);
  return BigInt(Math.ceil(blocks * times));
}

const ALMOST = 0.95;
