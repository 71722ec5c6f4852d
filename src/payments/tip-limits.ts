import { type Refusal, refuse } from '#core/answer.ts';
import { type Atoms, add, MAX_AMOUNT } from '#core/money.ts';
import type { Attempt, Tipping } from '#payments/payment-attempt.ts';

/** Returns what the payer owes the merchant: the sale and this attempt's tip. */
export function chargeOf(intent: { readonly amount: Atoms; readonly attempt: Attempt }): Atoms {
  return add(intent.amount, intent.attempt.tip);
}

function wrong(message: string): Refusal {
  return refuse('parameter_invalid', message, 'tip_amount');
}

/**
 * Returns the reason why this tip cannot be added to this sale; `null` if it can. Even a tip of 0
 * requires an intent that allows tips.
 */
export function checkTip(
  intent: { readonly amount: Atoms; readonly tipping: Tipping | null },
  tip: Atoms | null,
): Refusal | null {
  if (tip === null) return null;
  if (intent.tipping === null) {
    return wrong('tip_amount is allowed only for a payment intent that was created with tipping.');
  }
  if (tip > intent.amount) {
    return wrong(`tip_amount must not exceed the amount of the sale, ${intent.amount}.`);
  }
  if (add(intent.amount, tip) <= BigInt(MAX_AMOUNT)) return null;
  return wrong(`The sale plus tip_amount must not exceed ${MAX_AMOUNT}.`);
}
