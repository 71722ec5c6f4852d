import { present } from '#core/assert.ts';
import { addMs } from '#core/clock.ts';
import { type Stamp, stampOrders, tenantKey } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import { appendEvents, type EventDraft } from '#events/append.ts';
import type { PaymentIntent, Step } from '#payments/payment-intent.ts';
import { updateIntentStates } from '#payments/queries.ts';
import { renderIntent } from '#payments/render.ts';

/** An intent as it was locked, and the steps that were decided for it. */
export interface Change {
  readonly before: PaymentIntent;
  readonly steps: readonly Step[];
}

/** One event per step, whose snapshot is the intent after it. */
export function stepDrafts({ steps }: Change, stamp: Stamp): EventDraft[] {
  return steps.map(({ intent, event: type }) => {
    const object = renderIntent(intent);
    return { tenant: intent.tenant, type, objectId: intent.id, object, stamp };
  });
}

/** Writes the last state of each intent. They must be locked by this transaction. */
export async function saveStates(tx: Tx, changes: readonly Change[]): Promise<void> {
  await updateIntentStates(
    tx,
    changes.map(({ before, steps }) => ({
      from: before.status,
      intent: present(steps.at(-1), 'last step').intent,
    })),
  );
}

/**
 * Writes decided steps: the last state of each intent, and one event per step whose snapshot is
 * the state of that step. The intents must be locked by this transaction.
 * @returns how many deliveries the events have: wake the webhook worker after the commit if > 0.
 */
export async function saveSteps(tx: Tx, changes: readonly Change[], now: Date): Promise<number> {
  const effective = changes.filter((change) => change.steps.length > 0);
  if (effective.length === 0) return 0;
  await saveStates(tx, effective);
  const counts = new Map<string, { tenant: PaymentIntent['tenant']; count: number }>();
  for (const { before, steps } of effective) {
    const key = tenantKey(before.tenant);
    const count = (counts.get(key)?.count ?? 0) + steps.length;
    counts.set(key, { tenant: before.tenant, count });
  }
  const stamps = await stampOrders(tx, [...counts.values()], now);
  const drafts = effective.flatMap((change) =>
    stepDrafts(change, present(stamps.get(tenantKey(change.before.tenant)), 'stamp')),
  );
  return appendEvents(tx, drafts);
}

/** A confirmation is open for this long (api-v1.md section 8). */
const CONFIRMATION_MS = 60_000;

export function confirmationDeadline(now: Date): Date {
  return addMs(now, CONFIRMATION_MS);
}

export function confirmationAskedAt(confirmBy: Date): Date {
  return addMs(confirmBy, -CONFIRMATION_MS);
}
