import { getContractAddress } from 'viem';
import type { Hex } from '#settlement/requests.ts';

/**
 * Returns the address of the lens, which reads a settlement contract's packed words. Each
 * settlement contract creates its own in its constructor, so the address follows from the
 * contract's, and needs no setting.
 */
export function lensOf(settlement: Hex): Hex {
  return getContractAddress({ from: settlement, nonce: 1n });
}
