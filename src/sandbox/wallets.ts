import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { deriveKey } from '#settings/config.ts';
import type { Hex } from '#settlement/requests.ts';

/** Relayer senders of a sandbox network. */
const SANDBOX_SENDERS = 4;

/**
 * Derives a wallet of the sandbox, always the same for a data folder and name, so that a wallet
 * lost in a crash is created with the same address. No well-known development key is used.
 */
export function walletKey(secret: Buffer, name: string): Hex {
  return `0x${deriveKey(secret, `wallet ${name}`).toString('hex')}`;
}

export function wallet(secret: Buffer, name: string): PrivateKeyAccount {
  return privateKeyToAccount(walletKey(secret, name));
}

/** Returns the name of the wallet of a demo pass. */
export function payerWalletName(network: string, pass: string): string {
  return `${network} payer ${pass}`;
}

export function senderKeys(secret: Buffer, network: string): Hex[] {
  return Array.from({ length: SANDBOX_SENDERS }, (_, sender) =>
    walletKey(secret, `${network} sender ${sender}`),
  );
}
