import { bytesToHex, hexToBytes, keccak256 } from 'viem';
import type { Hex } from '#settlement/requests.ts';
import {
  settlementCodeHash,
  settlementImmutables,
} from '../../../contracts/artifacts/Settlement.ts';

/**
 * True if this is the settlement contract of this release, byte for byte. There is no proxy, so it
 * never changes. Values that a constructor wrote into the code (token, delays, domain) are ignored:
 * they differ between deployments.
 */
export function isCurrentContract(code: Hex): boolean {
  const bytes = hexToBytes(code);
  for (const [start, length] of settlementImmutables) bytes.fill(0, start, start + length);
  return keccak256(bytesToHex(bytes)) === settlementCodeHash;
}
