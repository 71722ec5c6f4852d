import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { deriveKey } from '#settings/config.ts';
import type { Hex } from '#settlement/chain-requests.ts';

/** Number of relayer senders on a sandbox network. */
const SANDBOX_SENDERS = 4;

/**
 * Derives a wallet of the sandbox. It is always the same for a data folder and name, so a wallet
 * lost in a crash gets the same address again. No well-known development key is used.
 */
export function walletKey(secret: Buffer, name: string): Hex {
  return `0x${deriveKey(secret, `wallet ${name}`).toString('hex')}`;
}

export function wallet(secret: Buffer, name: string): PrivateKeyAccount {
  return privateKeyToAccount(walletKey(secret, name));
}

export function payerWalletName(network: string, pass: string): string {
  return `${network} payer ${pass}`;
}

export function senderKeys(secret: Buffer, network: string): Hex[] {
  return Array.from({ length: SANDBOX_SENDERS }, (_, sender) =>
    walletKey(secret, `${network} sender ${sender}`),
  );
}
