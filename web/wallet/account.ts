import { getAddress, isAddress, keccak256 } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { createSiweMessage } from 'viem/siwe';
import type { Hex } from './bytes.ts';

/** Everything that needs the curve and its hash: loaded when somebody signs. */

export type Account = PrivateKeyAccount;

export function newPrivateKey(): Hex {
  return generatePrivateKey();
}

/**
 * What a person pasted or typed: 64 hex digits, with or without `0x`.
 *
 * @returns null for anything that is not a private key, the curve's order and zero included.
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
 * What a person pasted as the address of somebody.
 *
 * @returns null for none, and where the case of its letters is not their checksum (EIP-55).
 */
export function readAddress(text: string): Hex | null {
  const typed = text.trim();
  return isAddress(typed) ? getAddress(typed) : null;
}

/** By which the chain knows a signed transaction. */
export function hashOf(raw: Hex): Hex {
  return keccak256(raw);
}

/** The EIP-4361 text with which a wallet signs in here, and nowhere else. */
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

/** One gwei: some nodes take nothing without a tip. */
const USUAL_TIP = 1_000_000_000n;

/** A transaction of this wallet, ready to be sent by any node of its chain. */
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
