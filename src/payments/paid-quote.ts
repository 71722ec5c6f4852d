import type { Json } from '#core/canonical-json.ts';
import { toMinorUnits } from '#core/currency-conversion.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { byAccountClock } from '#payments/payment-intent.ts';
import { type PaidQuote, renderPaidQuote } from '#prices/quote-price.ts';

/** Returns the quote of an intent, with the tip in the same currency; `null` for a sale in USDC. */
export function paidQuote(intent: PaymentIntent, tip: bigint): PaidQuote | null {
  const { presentment } = intent;
  if (presentment === null) return null;
  return {
    ...presentment,
    expiresAt: byAccountClock(intent, intent.expires_at).toISOString(),
    tipAmount: toMinorUnits(tip, presentment),
  };
}

export function renderPaid(intent: PaymentIntent, tip: bigint): Json {
  const paid = paidQuote(intent, tip);
  return paid === null ? null : renderPaidQuote(paid);
}
