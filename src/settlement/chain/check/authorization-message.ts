import { type Charges, chargesOf, type FeeRates } from '#core/charges.ts';
import type { Hex } from '#settlement/chain-requests.ts';
import { authorizationNonce, type PaymentCall } from '#settlement/contract/contract-calls.ts';
import { receiveAuthorization } from '#settlement/contract/signed-messages.ts';
import { contractOf } from '#settlement/contract-versions.ts';
import type { NetworkConfig } from '#settlement/network-config.ts';

export interface AuthorizationTerms {
  readonly salt: Hex;
  /** True (the default) if the nonce commits to the payment's number and order. */
  readonly bindsOrder?: boolean;
  /** Unix seconds. */
  readonly validBefore: number;
  readonly rates: FeeRates;
}

export function authorizationMessage(
  config: NetworkConfig,
  payment: PaymentCall,
  terms: AuthorizationTerms,
) {
  const charges: Charges = chargesOf(payment.amount, terms.rates);
  return receiveAuthorization(config, {
    from: payment.payer,
    to: contractOf(config, payment.merchantNumber),
    value: charges.pulled,
    validBefore: BigInt(terms.validBefore),
    nonce: authorizationNonce(payment, terms),
  });
}
