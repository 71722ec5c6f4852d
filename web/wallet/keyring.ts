import type { Account } from './account.ts';
import type { Hex } from './bytes.ts';
import { type Opener, openVault, type Vault } from './vault.ts';

/** Several signatures of one errand need one fingerprint; an unattended window signs nothing. */
const OPEN_MS = 5 * 60_000;

/** In the memory of this page alone. A reload closes it. */
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

/** Whether the wallet signs without asking for its password or passkey again. */
export function isOpen({ address }: Vault): boolean {
  return opened !== null && opened.address === address && opened.until > Date.now();
}

/**
 * The key itself, for the backup alone: that always asks.
 *
 * @throws WrongOpener, PasskeyError
 */
export async function takeKey(vault: Vault, opener: Opener): Promise<Hex> {
  const key = await openVault(vault, opener);
  holdKey(key, vault.address);
  return key;
}

/**
 * What signs for this wallet, opened where it is not open already.
 *
 * @throws WrongOpener, PasskeyError
 */
export async function unlock(vault: Vault, opener: Opener): Promise<Account> {
  const { accountOf } = await import('./account.ts');
  if (opened !== null && isOpen(vault)) return accountOf(opened.key);
  return accountOf(await takeKey(vault, opener));
}
