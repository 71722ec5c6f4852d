import assert from 'node:assert/strict';
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { SigningKey } from '#settlement/remote-signer.ts';

/** Returns the account of a private key from the settings. */
export function heldAccount(key: SigningKey | null | undefined): PrivateKeyAccount {
  assert(typeof key === 'string', 'a private key');
  return privateKeyToAccount(key);
}
