import { getContractAddress } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';

/**
 * Returns the address of the lens, the contract that reads a settlement contract's packed words.
 * The constructor of each settlement contract creates its lens, so the lens's address follows from
 * the contract's and needs no setting.
 */
export function lensOf(settlement: Hex): Hex {
  return getContractAddress({ from: settlement, nonce: 1n });
}
