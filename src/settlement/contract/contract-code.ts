import { bytesToHex, hexToBytes, keccak256 } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import {
  settlementCodeHash,
  settlementImmutables,
} from '../../../contracts/artifacts/Settlement.ts';

/**
 * True if this is the code of this release's settlement contract, byte for byte. There is no proxy,
 * so the code at an address never changes. Values that the constructor wrote into the code (token,
 * delays, domain) are ignored, because they differ between deployments.
 */
export function isCurrentContract(code: Hex): boolean {
  const bytes = hexToBytes(code);
  for (const [start, length] of settlementImmutables) bytes.fill(0, start, start + length);
  return keccak256(bytesToHex(bytes)) === settlementCodeHash;
}
