import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { lockIntent, updateDeadlines } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { transition } from '#payments/payment-intent.ts';
import { saveSteps } from '#payments/save-intent-steps.ts';

/** Returns the intent with its expiry moved to now. */
function hasten(intent: PaymentIntent, now: Date): PaymentIntent {
  const expiresAt = intent.expires_at < now ? intent.expires_at : now;
  if (intent.status !== 'requires_action') return { ...intent, expires_at: expiresAt };
  const confirmBy = intent.confirm_by < now ? intent.confirm_by : now;
  return { ...intent, expires_at: expiresAt, confirm_by: confirmBy };
}

/**
 * Expires an unpaid intent now: an open one is canceled, and an unanswered confirmation times out.
 * Returns a canceled intent unchanged; refuses a paid or processing one.
 */
export async function expireNow(
  deps: { readonly db: Database; readonly wakeups: Wakeups },
  request: { readonly tenant: Tenant; readonly intentId: string; readonly now: Date },
): Promise<PaymentIntent | Refusal> {
  const { tenant, intentId, now } = request;
  const result = await deps.db.transaction(async (tx) => {
    const before = await lockIntent(tx, tenant, intentId);
    if (before === null) return resourceMissing('payment intent');
    if (before.status === 'processing' || before.status === 'succeeded') {
      return refuse(
        'payment_intent_unexpected_state',
        `The payment intent has the status ${before.status}, so it cannot expire.`,
      );
    }
    const hastened = hasten(before, now);
    const steps = transition(hastened, { type: 'time_passed' }, now);
    if (isRefusal(steps)) return steps;
    if (steps.length > 0) await updateDeadlines(tx, intentId, hastened.expires_at);
    const deliveries = await saveSteps(tx, [{ before, steps }], now);
    return { intent: steps.at(-1)?.intent ?? before, deliveries };
  });
  if (isRefusal(result)) return result;
  if (result.deliveries > 0) deps.wakeups.send('deliveries');
  deps.wakeups.send('intent', intentId);
  return result.intent;
}
