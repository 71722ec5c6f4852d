import type { Json } from '#core/canonical-json.ts';
import { chargesOf } from '#core/charges.ts';
import { presentTotal, toMinorUnits } from '#core/currency-conversion.ts';
import { networkOf } from '#core/mode.ts';
import { atoms, toJsonAtoms } from '#core/money.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { type Payment, paidFor } from '#payments/payment.ts';
import { attemptOf, byAccountClock } from '#payments/payment-intent.ts';
import { type PaidQuote, renderPaidQuote, renderQuote } from '#prices/quote-price.ts';
import { knownRates } from '#settlement/chain/fees/fee-rates.ts';

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

/** The payer's total and the fee in it, while no rates are known. */
const UNKNOWN = { total: null, fees: null } as const;

/**
 * Renders the object `presentment` of an intent with this tip. `paid` are the atoms that leave the
 * payer's wallet; `null` if unknown.
 */
export function renderPaid(intent: PaymentIntent, tip: bigint, paid: bigint | null): Json {
  const quote = paidQuote(intent, tip);
  if (quote === null) return null;
  const totals = paid === null ? UNKNOWN : totalsOf(quote, paid);
  return { ...renderPaidQuote(quote), ...totals };
}

function totalsOf(quote: PaidQuote, paid: bigint) {
  return presentTotal({ ...quote, tip: quote.tipAmount, paid });
}

/**
 * Returns the atoms that leave the payer's wallet for this intent: once it is paid, those that
 * left it; before, those that a pass would pay now, or `null` while this process does not know the
 * fees.
 */
export function paidNow(intent: PaymentIntent, tip: bigint): bigint | null {
  const sum = intent.amount + tip;
  if (intent.status === 'succeeded') {
    const { fees } = intent.attempt;
    return fees === undefined ? null : sum + BigInt(fees);
  }
  const rates = knownRates(networkOf(intent.livemode));
  return rates === null ? null : chargesOf(sum, rates).pulled;
}

/**
 * Returns what the customer of an intent pays and the fee in it, in atoms, as `total` and `fees` of
 * `presentment` are in the shop's currency.
 */
export function renderTotal(intent: PaymentIntent) {
  const tip = attemptOf(intent)?.tip ?? 0n;
  const [owed, paid] = [intent.amount + tip, paidNow(intent, tip)];
  if (paid === null) return { total: null, service_fee: null };
  const total = atoms(paid < owed ? owed : paid);
  return { total: toJsonAtoms(total), service_fee: toJsonAtoms(atoms(total - owed)) };
}

/** Renders the object `presentment` of an intent: once it is paid, its payment's. */
export function renderPrice(intent: PaymentIntent): Json {
  const { presentment } = intent;
  if (presentment === null) return null;
  const tip = attemptOf(intent)?.tip ?? 0n;
  const paid = paidNow(intent, tip);
  if (intent.status === 'succeeded') return renderPaid(intent, tip, paid);
  const totals =
    paid === null
      ? UNKNOWN
      : presentTotal({ ...presentment, tip: toMinorUnits(tip, presentment), paid });
  const expiresAt = byAccountClock(intent, intent.expires_at).toISOString();
  return { ...renderQuote(presentment, expiresAt), ...totals };
}

/** Renders the object `presentment` of a payment, whose sums are fixed. */
export function renderPaidPrice(payment: Payment) {
  const { presentment: quote } = payment;
  if (quote === null) return null;
  return { ...renderPaidQuote(quote), ...totalsOf(quote, paidFor(payment)) };
}
