import { opensBy, openVault, type Vault } from './key-vault.ts';
import { problemOf } from './problem-words.ts';
import { kept } from './wallet-storage.ts';

export function asksEach(vault: Vault): boolean {
  return opensBy(vault, 'passkey') && kept('passkeyEach');
}

/**
 * Asks for the passkey even while the wallet is unlocked, because the person with the phone may not
 * be its owner.
 * @returns a message for the user if it failed, or `null`.
 */
export async function askOwner(vault: Vault): Promise<string | null> {
  try {
    await openVault(vault, { by: 'passkey' });
    return null;
  } catch (error) {
    return problemOf(error);
  }
}
