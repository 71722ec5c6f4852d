import type { NetworkConfig } from '#settlement/network-config.ts';

/**
 * Returns how many blocks take as long as `blocks` blocks of `minBlockMs` each; at least `blocks`.
 * `intervalMs` is the measured interval; if it is `null`, the profile's is used, if it has one.
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
