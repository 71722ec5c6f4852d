import { getAddress, isAddress, keccak256 } from 'viem';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import type { Hex } from '../data/bytes.ts';

/** This module has the wallet's elliptic-curve code, and loads only when the user signs. */

export type Account = PrivateKeyAccount;

/**
 * Parses a pasted or typed private key: 64 hex digits, with or without `0x`.
 *
 * @returns `null` if it is not a valid key. Zero and values from the curve's order on are invalid.
 */
export function readPrivateKey(text: string): Hex | null {
  const digits = text.replaceAll(/\s/g, '').replace(/^0x/i, '').toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(digits)) return null;
  try {
    privateKeyToAccount(`0x${digits}`);
    return `0x${digits}`;
  } catch {
    return null;
  }
}

export function accountOf(privateKey: Hex): Account {
  return privateKeyToAccount(privateKey);
}

/**
 * @returns `null` if it is not an address, or if its mixed case is not a valid checksum (EIP-55).
 */
export function readAddress(text: string): Hex | null {
  const typed = text.trim();
  return isAddress(typed) ? getAddress(typed) : null;
}

/** Returns the hash that identifies a signed transaction on the chain. */
export function hashOf(raw: Hex): Hex {
  return keccak256(raw);
}

/** Returns the EIP-4361 message that signs in to this site and to no other. */
export function signInText(challenge: {
  readonly address: Hex;
  readonly chainId: number;
  readonly nonce: string;
}): string {
  return createSiweMessage({
    ...challenge,
    domain: location.host,
    uri: location.origin,
    version: '1',
    statement: 'Sign in to the Tapline wallet.',
  });
}

/** One gwei of priority fee, because some nodes refuse a transaction without one. */
const USUAL_TIP = 1_000_000_000n;

/** @returns the signed bytes, which any node of its chain accepts. */
export function signTransaction(
  account: Account,
  transaction: {
    readonly chainId: number;
    readonly to: Hex;
    readonly data: Hex;
    readonly nonce: number;
    readonly gas: bigint;
    readonly maxFeePerGas: bigint;
  },
): Promise<Hex> {
  const maxPriorityFeePerGas =
    transaction.maxFeePerGas < USUAL_TIP ? transaction.maxFeePerGas : USUAL_TIP;
  return account.signTransaction({ type: 'eip1559', ...transaction, maxPriorityFeePerGas });
}
