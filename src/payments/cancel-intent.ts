import { type Answer, answerWith, isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';
import { runOnce } from '#idempotency/run-once-per-key.ts';
import { lockIntent } from '#payments/intent-queries.ts';
import { transition } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';
import { saveSteps } from '#payments/save-intent-steps.ts';
import { checkLedger } from '#settlement/ledger-gate.ts';

export interface CancelRequest {
  readonly tenant: Tenant;
  readonly intentId: string;
  /** If set, only this terminal's intents can be canceled. */
  readonly terminalId?: string;
  readonly idempotency: IdempotentRequest | null;
  readonly requestId: string;
  readonly now: Date;
}

/**
 * Cancels an unpaid intent. Canceling again returns it unchanged. Refuses with
 * `payment_intent_unexpected_state` once its settlement was requested.
 */
export async function cancelIntent(
  deps: { readonly db: Database; readonly wakeups: Wakeups },
  request: CancelRequest,
): Promise<Answer | Refusal> {
  const { tenant, intentId, now } = request;
  const { answer, done } = await runOnce(deps.db, request, async (tx) => {
    const closed = checkLedger(tx.watch, tenant.livemode);
    if (closed !== null) return closed;
    const intent = await lockIntent(tx, tenant, intentId);
    if (intent === null) return resourceMissing('payment intent');
    if (request.terminalId !== undefined && intent.terminal_id !== request.terminalId) {
      return resourceMissing('payment intent');
    }
    const askedPayerId = intent.status === 'requires_action' ? intent.attempt.payerId : null;
    const steps = transition(intent, { type: 'cancel' }, now);
    if (isRefusal(steps)) return steps;
    const deliveries = await saveSteps(tx, [{ before: intent, steps }], now);
    const after = steps.at(-1)?.intent ?? intent;
    const answer = answerWith(200, renderIntent(after));
    return { answer, resource: intent.id, deliveries, askedPayerId };
  });
  if (done !== null && done.deliveries > 0) deps.wakeups.send('deliveries');
  deps.wakeups.send('intent', intentId);
  if (done?.askedPayerId) deps.wakeups.send('payer', done.askedPayerId);
  return answer;
}
