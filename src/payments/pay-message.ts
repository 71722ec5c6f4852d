import { concat, keccak256, toHex } from 'viem';
import type { FeeRates } from '#core/charges.ts';
import { type Atoms, add } from '#core/money.ts';
import type { PayLink } from '#payments/pay-link.ts';
import type { PayTerms } from '#payments/pay-link-queries.ts';
import { authorizationMessage } from '#settlement/chain/check/authorization-message.ts';
import type { Hex } from '#settlement/chain-requests.ts';

export function ratesOf({ acquirer, protocol, cashback }: PayTerms): FeeRates {
  return { acquirer, protocol, cashback };
}

/**
 * Returns the terms that a wallet signs after `answers` responses to its authorizations. Other
 * wallets do not affect them, and nothing is stored.
 */
export function termsAfter(
  terms: PayTerms,
  { address, answers }: { readonly address: Hex | null; readonly answers: number },
): PayTerms {
  if (address === null || answers === 0) return terms;
  return { ...terms, salt: keccak256(concat([terms.salt, address, toHex(answers, { size: 4 })])) };
}

/** Returns sale plus tip, on which fees are charged. */
export function sumOf({ intent, tip }: PayLink): Atoms {
  return tip === null ? intent.amount : add(intent.amount, tip);
}

export function messageOf(link: PayLink, terms: PayTerms, from: Hex) {
  const { intent, number, chain, merchant, bindsOrder } = link;
  const merchantNumber = merchant.merchantNumber ?? 0n;
  const { order_id: orderId } = intent;
  const amount = sumOf(link);
  const payment = { payer: from, merchantNumber, number, amount, orderId };
  const { salt, valid_before: validBefore } = terms;
  const rates = ratesOf(terms);
  return authorizationMessage(chain.config, payment, { salt, bindsOrder, validBefore, rates });
}
