import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { networkOf, tenantOf } from '#core/mode.ts';
import { type Stamp, stampOrders } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents, type EventDraft } from '#events/append-events.ts';
import { paymentsDeclined, paymentsSettled } from '#observability/process-metrics.ts';
import { updateIntentStates } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import type { Step } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';

/** A locked intent, and the steps that were decided for it. */
export interface Change {
  readonly before: PaymentIntent;
  readonly steps: readonly Step[];
}

/** Drafts one event per step, with the intent as it was after that step. */
export function stepDrafts({ steps }: Change, stamp: Stamp): EventDraft[] {
  return steps.map(({ intent, event: type }) => {
    const object = renderIntent(intent);
    return { tenant: tenantOf(intent), type, objectId: intent.id, object, stamp };
  });
}

/** Counts payments by result. */
function countSteps(changes: readonly Change[]): void {
  for (const { steps } of changes) {
    for (const { intent, event } of steps) {
      const network = networkOf(intent.livemode);
      if (event === 'payment_intent.succeeded') paymentsSettled.inc({ network });
      if (event !== 'payment_intent.payment_failed') continue;
      paymentsDeclined.inc({ network, code: intent.last_payment_error?.decline_code ?? 'none' });
    }
  }
}

/** The transaction must have locked the intents. */
export async function saveStates(tx: Tx, changes: readonly Change[]): Promise<void> {
  tx.onCommit(() => countSteps(changes));
  await updateIntentStates(
    tx,
    changes.map(({ before, steps }) => ({
      from: before.status,
      intent: present(steps.at(-1), 'last step').intent,
    })),
  );
}

/**
 * Writes decided steps: the last state of each intent, and one event per step. The transaction must
 * have locked the intents. @returns the number of deliveries. If it is above 0, wake the webhook
 * worker after the commit.
 */
export async function saveSteps(tx: Tx, changes: readonly Change[], now: Date): Promise<number> {
  const effective = changes.filter((change) => change.steps.length > 0);
  if (effective.length === 0) return 0;
  const counts = effective.map(({ before, steps }) => ({
    tenant: tenantOf(before),
    count: steps.length,
  }));
  // Both are sent together. The stamp comes last, because it locks the accounts' order until the
  // commit.
  const [, stampOf] = await Promise.all([saveStates(tx, effective), stampOrders(tx, counts, now)]);
  const drafts = effective.flatMap((change) =>
    stepDrafts(change, stampOf(tenantOf(change.before))),
  );
  return appendEvents(tx, drafts);
}

/** Time for which a payer can answer a confirmation request (behavior.md 12.3). */
const CONFIRMATION_MS = 60_000;

export function confirmationDeadline(now: Date): Date {
  return addMs(now, CONFIRMATION_MS);
}

export function confirmationAskedAt(confirmBy: Date): Date {
  return addMs(confirmBy, -CONFIRMATION_MS);
}
