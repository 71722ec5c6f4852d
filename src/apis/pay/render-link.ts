import { getAddress } from 'viem';
import { type Answer, answerWith } from '#core/answer.ts';
import { chargesOf } from '#core/charges.ts';
import { networkOf } from '#core/mode.ts';
import { add, toJsonAtoms, ZERO } from '#core/money.ts';
import { renderPaid, renderPrice } from '#payments/paid-quote.ts';
import type { PayLink } from '#payments/pay-link.ts';
import type { PayTerms } from '#payments/pay-link-queries.ts';
import { messageOf, ratesOf } from '#payments/pay-message.ts';
import { attemptOf, byAccountClock } from '#payments/payment-intent.ts';
import { type ReceiptPages, receiptUrl } from '#payments/receipt-url.ts';
import { contractOf, numberOnContract } from '#settlement/contract-versions.ts';
import { withDomainType } from '#settlement/typed-data-json.ts';

/** Converts bigints to JSON numbers. These values are far below the largest exact number. */
function renderMessage(signable: ReturnType<typeof messageOf>) {
  const { message } = signable;
  const { value, validAfter, validBefore } = message;
  const numbers = {
    value: toJsonAtoms(value),
    validAfter: Number(validAfter),
    validBefore: Number(validBefore),
  };
  return withDomainType({ ...signable, message: { ...message, ...numbers } });
}

/**
 * Renders a pay link for anyone. If `from` is given and the link is open, includes the data that
 * this wallet signs.
 */
export function renderLink(link: PayLink, terms: PayTerms, from: string | undefined) {
  const { intent, number, chain, merchant, closed } = link;
  const { amount, tipping } = intent;
  const tip = attemptOf(intent)?.tip ?? link.tip ?? ZERO;
  const sum = add(amount, tip);
  const { acquirer, protocol, cashback, pulled } = chargesOf(sum, ratesOf(terms));
  const fees = link.fees ?? {
    acquirer: toJsonAtoms(acquirer),
    protocol: toJsonAtoms(protocol),
    cashback: toJsonAtoms(cashback),
  };
  const isAsked = from !== undefined && closed === null;
  return {
    object: 'pay_link',
    status: intent.status,
    cancellation_reason: intent.status === 'canceled' ? intent.cancellation_reason : null,
    merchant: {
      name: merchant.name,
      number: merchant.merchantNumber === null ? null : numberOnContract(merchant.merchantNumber),
    },
    amount: toJsonAtoms(amount),
    presentment:
      intent.status === 'succeeded' ? renderPrice(intent) : renderPaid(intent, tip, pulled),
    tip_amount: toJsonAtoms(tip),
    tipping: tipping === null ? null : { percentages: [...tipping.percentages] },
    fees,
    total_charged: toJsonAtoms(sum) + fees.acquirer + fees.protocol,
    expires_at: byAccountClock(intent, intent.expires_at).toISOString(),
    network: networkOf(intent.livemode),
    chain_id: chain.config.chainId,
    usdc: chain.config.usdc,
    settlement: contractOf(chain.config, merchant.merchantNumber ?? 0n),
    order_id: intent.order_id,
    number: Number(number),
    salt: closed === null ? terms.salt : null,
    typed_data: isAsked ? renderMessage(messageOf(link, terms, getAddress(from))) : null,
  };
}

/**
 * Renders the stored response to a signature for the payer: only the fields that `show` selects,
 * and the receipt if the intent is paid. Returns stored refusals unchanged.
 */
export function answerPayer(
  { intent, number }: PayLink,
  { answer, receipts }: { readonly answer: Answer; readonly receipts: ReceiptPages },
  show: (intent: Readonly<Record<string, unknown>>) => object,
): Answer {
  if (answer.status !== 200) return answer;
  const rendered: Readonly<Record<string, unknown>> = JSON.parse(answer.body);
  const paid = { livemode: intent.livemode, settlement_number: number };
  const receipt_url = rendered.status === 'succeeded' ? receiptUrl(paid, receipts) : null;
  return answerWith(200, { ...show(rendered), receipt_url });
}
