import type { Hex } from '../data/bytes.ts';
import { type Opener, openVault, type Secrets, type Vault } from './key-vault.ts';
import type { Account } from './private-key-account.ts';

/**
 * Time for which the wallet stays unlocked. Several signatures in a row need one unlock, and an
 * unattended window locks itself.
 */
const OPEN_MS = 5 * 60_000;

/** The unlocked key, in this page's memory only. A reload locks it. */
let opened: { readonly key: Hex; readonly address: Hex; readonly until: number } | null = null;
let timer: ReturnType<typeof setTimeout> | undefined;

export function holdKey(key: Hex, address: Hex): void {
  clearTimeout(timer);
  opened = { key, address, until: Date.now() + OPEN_MS };
  timer = setTimeout(dropKey, OPEN_MS);
}

export function dropKey(): void {
  clearTimeout(timer);
  opened = null;
}

/** True if the wallet can sign without asking for the password or passkey. */
export function isOpen({ address }: Vault): boolean {
  return opened !== null && opened.address === address && opened.until > Date.now();
}

/**
 * Returns key and recovery phrase, for the backup. Always asks for the password or passkey.
 * @throws WrongOpener, PasskeyError
 */
export async function takeSecrets(vault: Vault, opener: Opener): Promise<Secrets> {
  const secrets = await openVault(vault, opener);
  holdKey(secrets.privateKey, vault.address);
  return secrets;
}

/**
 * Returns the wallet's signer, after unlocking the wallet if necessary, or always.
 * @throws WrongOpener, PasskeyError
 */
export async function unlock(
  vault: Vault,
  opener: Opener,
  { always = false }: { readonly always?: boolean } = {},
): Promise<Account> {
  const { accountOf } = await import('./private-key-account.ts');
  if (!always && opened !== null && isOpen(vault)) return accountOf(opened.key);
  return accountOf((await takeSecrets(vault, opener)).privateKey);
}
