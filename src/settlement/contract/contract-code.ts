import { bytesToHex, hexToBytes, keccak256 } from 'viem';
import type { Hex } from '#settlement/requests.ts';
import {
  settlementCodeHash,
  settlementImmutables,
} from '../../../contracts/artifacts/Settlement.ts';

/**
 * Whether this is the settlement contract of this release, byte by byte. There is no proxy, so it
 * never changes. What a constructor wrote into the code (token, delays, domain) is left out: it
 * differs from one deployment to the next.
 */
export function isCurrentContract(code: Hex): boolean {
  const bytes = hexToBytes(code);
  for (const [start, length] of settlementImmutables) bytes.fill(0, start, start + length);
  return keccak256(bytesToHex(bytes)) === settlementCodeHash;
}
