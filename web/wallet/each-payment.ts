import { kept } from './kept.ts';
import { openVault, type Vault } from './vault.ts';
import { problemOf } from './words.ts';

/** Whether the owner wants the passkey asked for each payment, and has one. */
export function asksEach({ seal }: Vault): boolean {
  return seal.by === 'passkey' && kept('passkeyEach');
}

/**
 * Asks the passkey, also while the wallet is open: whoever holds the phone is not yet its owner.
 *
 * @returns what to tell the person where it was not used; null: it was.
 */
export async function askOwner(vault: Vault): Promise<string | null> {
  try {
    await openVault(vault, { by: 'passkey' });
    return null;
  } catch (error) {
    return problemOf(error);
  }
}
