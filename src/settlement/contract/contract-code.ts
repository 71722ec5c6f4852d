import { bytesToHex, hexToBytes, keccak256 } from 'viem';
import type { Hex } from '#settlement/chain-requests.ts';
import {
  settlementCodeHash,
  settlementImmutables,
} from '../../../contracts/artifacts/Settlement.ts';

export interface KnownContract {
  readonly codeHash: Hex;
  /** `[start, length]` in bytes, where the constructor writes values into the code. */
  readonly immutables: readonly (readonly [start: number, length: number])[];
  /**
   * The gas that the contract allows a wallet for checking a signature. It is internal to the
   * contract, so that it cannot be read there.
   */
  readonly signatureGas: bigint;
}

/** By version, from 1: the contract's own, not that of a network (contract-versions.ts). */
const KNOWN: readonly KnownContract[] = [
  {
    codeHash: '0x9bb0973e9930cf2614f601e120ab0b29ae640eacefe39c20f8435f2f10a12315',
    immutables: [
      ...[1712, 3130, 3447, 4489, 5502, 6158, 6671, 6713, 6929, 7239, 7729, 9166, 10_475, 11_820],
      ...[12_207, 17_392, 19_091, 19_588, 20_594, 20_641, 20_720, 20_758, 20_824],
    ].map((start) => [start, 32]),
    signatureGas: 500_000n,
  },
  { codeHash: settlementCodeHash, immutables: settlementImmutables, signatureGas: 500_000n },
];

/**
 * Returns the settlement contract with this code, byte for byte; `null` if it is none. There is no
 * proxy, so the code at an address never changes. Values that the constructor wrote into the code
 * (token, delays, domain) are ignored, because they differ between deployments.
 */
export function knownContract(code: Hex): KnownContract | null {
  return KNOWN.find((one) => codeHashOf(code, one) === one.codeHash) ?? null;
}

/** True if this is the code of this release's settlement contract. */
export function isCurrentContract(code: Hex): boolean {
  return knownContract(code) === KNOWN.at(-1);
}

function codeHashOf(code: Hex, { immutables }: KnownContract): Hex {
  const bytes = hexToBytes(code);
  for (const [start, length] of immutables) bytes.fill(0, start, start + length);
  return keccak256(bytesToHex(bytes));
}
