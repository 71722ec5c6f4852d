import type { NetworkConfig } from '#settlement/networks.ts';

/**
 * The blocks that last as long as `blocks` of them do where each takes `patienceMs`; never fewer.
 * `intervalMs`: from one block to the next as measured; null: as the profile says, if it does.
 */
export function blocksLasting(
  { patienceMs, profile }: Pick<NetworkConfig, 'patienceMs' | 'profile'>,
  { blocks, intervalMs = null }: { readonly blocks: number; readonly intervalMs?: number | null },
): bigint {
  const each = intervalMs ?? profile.blockMs ?? patienceMs;
  // Measured times are off by some milliseconds: that must not cost a block.
  const times = Math.max(1, (patienceMs * ALMOST) / each);
  return BigInt(Math.ceil(blocks * times));
}

const ALMOST = 0.95;
