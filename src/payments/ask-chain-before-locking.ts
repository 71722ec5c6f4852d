import { type Refusal, refuse } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import { add, ZERO } from '#core/money.ts';
import type { PreflightResult } from '#payments/assess-payment.ts';
import type { Presented } from '#payments/credential.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import type { PayRequest, Preflight } from '#payments/pay-request.ts';
import { asOf } from '#payments/payment-intent.ts';
import type { Outlook } from '#payments/read-before-lock.ts';
import { checkTip } from '#payments/tip-limits.ts';
import { hourIsFull } from '#settlement/hourly-ceiling-and-shares.ts';

/**
 * Asks the chain, before the transaction begins, whether it would accept a payment. `null` if there
 * is nothing to ask: the credential or the merchant is unknown, the intent has ended, or the tip is
 * not allowed.
 */
export async function askChain(
  preflight: Preflight,
  request: PayRequest,
  { intent, payer }: Outlook,
): Promise<PreflightResult | null> {
  const { tenant } = request.merchant;
  const merchantNumber = intent?.merchant_number ?? null;
  if (intent === null || merchantNumber === null || payer === null) return null;
  const { status } = asOf(intent, request.now);
  if (status === 'succeeded' || status === 'canceled') return null;
  // A tip that is not allowed is refused later. It may also be too large for the contract's fields.
  if (checkTip(intent, request.tip) !== null) return null;
  if (payer.livemode !== tenant.livemode) return { ok: true };
  const signed = signedOf(request.presented, intent);
  return preflight({
    ...(signed === null ? {} : { signed }),
    livemode: tenant.livemode,
    payer: payer.address,
    merchantNumber,
    amount: add(intent.amount, request.tip ?? ZERO),
    orderId: intent.order_id,
  });
}

/** Returns the refusal of a payment that the chain cannot take now. */
export function notNow(why: 'unavailable' | 'hour_full', livemode: boolean): Refusal {
  return why === 'hour_full' ? hourIsFull(livemode) : serviceUnavailable();
}

export function serviceUnavailable(): Refusal {
  return refuse(
    'service_unavailable',
    'The chain cannot be reached right now. Nothing was charged. Try again.',
  );
}

function signedOf(presented: Presented, { settlement_number: settlementNumber }: PaymentIntent) {
  if (presented.type !== 'authorization') return null;
  const { authorization, rates } = presented.signed;
  return { authorization, rates, number: present(settlementNumber, 'number of a signed payment') };
}
