import { hashTypedData } from 'viem';
import type { Chain } from '#settlement/chain/chain.ts';
import {
  isSignedBy,
  type SignatureVerdict,
  verifySignature,
} from '#settlement/chain/check/verify-signature.ts';
import type { Hex, PaymentAuthorization } from '#settlement/chain-requests.ts';
import { authorizationNonce, validityOf } from '#settlement/contract/contract-calls.ts';
import { receiveAuthorization } from '#settlement/contract/signed-messages.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

export interface OfflineAuthorization {
  readonly from: Hex;
  readonly value: bigint;
  /** Unix seconds, like `validBefore`. */
  readonly validAfter: bigint;
  readonly validBefore: bigint;
  readonly nonce: Hex;
  /** 65 bytes with a v of 27 or 28: see `normalSignature`. */
  readonly signature: Hex;
}

/** The sale to which the authorization's nonce commits. */
export interface OfflineSale {
  readonly merchantNumber: bigint;
  readonly amount: bigint;
  readonly salt: Hex;
}

/** Returns the nonce of an authorization that is made before its order exists. */
export function offlineNonce({ merchantNumber, amount, salt }: OfflineSale): Hex {
  const payment = { merchantNumber, amount, number: 0n, orderId: '' };
  return authorizationNonce(payment, { salt, bindsOrder: false });
}

export function offlineMessage(
  config: NetworkConfig,
  merchantNumber: bigint,
  authorization: Omit<OfflineAuthorization, 'signature'>,
) {
  return receiveAuthorization(config, { ...authorization, to: contractOf(config, merchantNumber) });
}

/**
 * Verifies, without querying the chain, an authorization that a till has forwarded. Contract
 * wallets do not sign offline, so the payer's own key must have signed.
 * @returns the part that does not verify; `null` if all parts do.
 */
export async function verifyOffline(
  config: NetworkConfig,
  sale: OfflineSale,
  authorization: OfflineAuthorization,
): Promise<'nonce' | 'signature' | null> {
  if (offlineNonce(sale) !== authorization.nonce) return 'nonce';
  const { from: signer, signature } = authorization;
  const digest = hashTypedData(offlineMessage(config, sale.merchantNumber, authorization));
  return (await isSignedBy({ signer, signature }, digest)) ? null : 'signature';
}

/** Checks the signature of an offline sale as the token would decide now. */
export function judgeOffline(
  chain: Chain,
  sale: OfflineSale & PaymentAuthorization & { readonly payer: Hex; readonly value: bigint },
): Promise<SignatureVerdict> {
  const { payer: from, value, signature } = sale;
  const [validAfter, validBefore] = validityOf(sale);
  const terms = { from, value, validAfter, validBefore, nonce: offlineNonce(sale) };
  const digest = hashTypedData(offlineMessage(chain.config, sale.merchantNumber, terms));
  return verifySignature(chain, { signer: from, digests: [digest], signature, by: 'token' });
}
