import type { NetworkConfig } from '#settlement/networks.ts';

/**
 * The blocks that last as long as `blocks` of them do where each takes `minBlockMs`; never fewer.
 * `intervalMs`: from one block to the next as measured; null: as the profile says, if it does.
 */
export function blocksLasting(
  { minBlockMs, profile }: Pick<NetworkConfig, 'minBlockMs' | 'profile'>,
  { blocks, intervalMs = null }: { readonly blocks: number; readonly intervalMs?: number | null },
): bigint {
  const each = intervalMs ?? profile.blockMs ?? minBlockMs;
  // Measured times are off by some milliseconds: that must not cost a block.
  const times = Math.max(1, (minBlockMs * ALMOST) / each);
  return BigInt(Math.ceil(blocks * times));
}

const ALMOST = 0.95;
