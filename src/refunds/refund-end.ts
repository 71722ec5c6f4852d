import { type Answer, answerWith } from '#core/answer.ts';
import type { Stamp } from '#db/commit-order.ts';
import type { EventDraft } from '#events/append.ts';
import type { Payment } from '#payments/payment.ts';
import { renderPayment } from '#payments/render.ts';
import type { Refund, RefundFailure } from '#refunds/refund.ts';
import { renderRefund } from '#refunds/render.ts';
import type { FailureReason, Outcome } from '#settlement/requests.ts';

export type Ended = Refund & { status: 'succeeded' | 'failed' };

function failureOf(reason: FailureReason): RefundFailure {
  if (reason === 'insufficient_balance' || reason === 'transfer_blocked') return reason;
  return 'transaction_reverted';
}

/** The pending refund after this outcome; null when it is not pending any more. */
export function endOf(refund: Refund, outcome: Outcome<'refund'>, now: Date): Ended | null {
  if (refund.status !== 'pending') return null;
  const { result } = outcome;
  const updated = now;
  if (result.succeeded) {
    return { ...refund, updated, status: 'succeeded', txHash: result.facts.txHash };
  }
  const { txHash, reason } = result;
  return { ...refund, updated, status: 'failed', failure: failureOf(reason), txHash };
}

/** An ended refund, and its payment as the refund left it. */
export interface Written {
  readonly refund: Ended;
  readonly payment: Payment;
}

export function draftsOf({ refund, payment }: Written, stamp: Stamp): EventDraft[] {
  const { tenant } = refund;
  const about = { tenant, objectId: refund.id, object: renderRefund(refund), stamp };
  const previousAttributes = { status: 'pending', tx_hash: null };
  const updated: EventDraft = { ...about, type: 'refund.updated', previousAttributes };
  if (refund.status === 'failed') return [updated, { ...about, type: 'refund.failed' }];
  const object = renderPayment(payment);
  return [
    updated,
    { ...about, type: 'refund.succeeded' },
    { tenant, type: 'payment.refunded', objectId: payment.id, object, stamp },
  ];
}

/** The answer for a client that waits for the refund, or asks again with its key. */
export function waitingAnswer(refund: Ended): Answer & { readonly resource: string } {
  return { resource: refund.id, ...answerWith(201, renderRefund(refund)) };
}
