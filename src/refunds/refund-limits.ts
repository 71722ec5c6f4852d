import { type Refusal, refuse } from '#core/answer.ts';
import { type Atoms, atoms, subtract } from '#core/money.ts';
import type { Payment } from '#payments/payment.ts';
import type { RefundFailure } from '#refunds/refund.ts';

/** Returns the amount of the payment that is neither refunded nor reserved by a pending refund. */
export function refundable(payment: Payment): Atoms {
  return subtract(payment.amount, payment.amount_reserved);
}

/** `requested` is `null` to refund everything that is left. */
export function decideAmount(payment: Payment, requested: number | null): Atoms | Refusal {
  const left = refundable(payment);
  if (left === 0n) {
    return refuse(
      'payment_already_refunded',
      'Nothing is left to refund: the payment was fully refunded, or pending refunds cover ' +
        'the rest.',
      'payment',
    );
  }
  const amount = requested === null ? left : atoms(requested);
  if (amount <= left) return amount;
  return refuse(
    'amount_too_large',
    `amount is ${amount}, but only ${left} atoms of this payment are left to refund.`,
    'amount',
  );
}

/**
 * `amount`, `refundedToday` and `dailyLimit` are in one unit: atoms, or minor units of the currency
 * in which the limit was set.
 */
export interface RefundDay {
  readonly amount: bigint;
  readonly refundedToday: bigint;
  readonly dailyLimit: bigint;
}

/**
 * Returns why the account's rules end a new refund as `failed` immediately; such a refund is not an
 * invalid request.
 */
export function checkAccountRules(
  payment: Payment,
  now: Date,
  { amount, refundedToday, dailyLimit }: RefundDay,
): RefundFailure | null {
  if (now >= payment.refundable_until) return 'refund_window_expired';
  return refundedToday + amount > dailyLimit ? 'refund_daily_limit_exceeded' : null;
}
