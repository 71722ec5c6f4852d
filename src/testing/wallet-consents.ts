import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import type { RequestPayloads } from '#settlement/chain-requests.ts';
import { merchantConsent, walletConsent } from '#settlement/contract/signed-messages.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

/** In Unix seconds, so late that no consent expires during a test. */
const DEADLINE = 4_000_000_000n;

/** Returns the registration of a merchant, with the consent of its wallet. */
export async function signRegistration(
  config: NetworkConfig,
  accountId: string,
  wallet: PrivateKeyAccount = privateKeyToAccount(generatePrivateKey()),
): Promise<RequestPayloads['merchant_registration']> {
  const consent = { accountId, wallet: wallet.address, deadline: DEADLINE };
  const signature = await wallet.signTypedData(merchantConsent(config, consent));
  return { ...consent, deadline: String(DEADLINE), signature };
}

/** Returns the proposal of a new wallet for a merchant's payouts, with that wallet's consent. */
export async function signProposal(
  config: NetworkConfig,
  merchantNumber: bigint,
): Promise<Extract<RequestPayloads['wallet_change'], { readonly step: 'propose' }>> {
  const wallet = privateKeyToAccount(generatePrivateKey());
  const consent = { merchantNumber, wallet: wallet.address, nonce: 0n, deadline: DEADLINE };
  const signature = await wallet.signTypedData(walletConsent(config, consent));
  return {
    step: 'propose',
    merchantNumber: String(merchantNumber),
    wallet: wallet.address,
    deadline: String(DEADLINE),
    signature,
  };
}
