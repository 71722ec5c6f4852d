import { toFunctionSelector } from 'viem';
import type { Hex } from '#settlement/requests.ts';
import { settlementAbi } from '../../../contracts/artifacts/Settlement.ts';

/**
 * Whether this code has every function of the settlement contract that we call. An earlier edition
 * lacks some of them, and there is no proxy, so it never changes.
 */
export function isPresentEdition(code: Hex): boolean {
  return settlementAbi.every((item) => {
    if (item.type !== 'function') return true;
    // The code compares selectors as numbers, without leading zeros.
    return code.includes(BigInt(toFunctionSelector(item)).toString(16));
  });
}
