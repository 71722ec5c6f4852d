import { getContractAddress } from 'viem';
import type { Hex } from '#settlement/requests.ts';

/**
 * The contract that reads a settlement contract's packed words for us. Each settlement contract
 * makes its own in its constructor, so the address follows from the other and needs no setting.
 */
export function lensOf(settlement: Hex): Hex {
  return getContractAddress({ from: settlement, nonce: 1n });
}
