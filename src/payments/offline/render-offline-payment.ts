import type { Json } from '#core/canonical-json.ts';
import { networkOf } from '#core/mode.ts';
import { toJsonAtoms } from '#core/money.ts';
import type { Stamp } from '#db/commit-order.ts';
import type { EventDraft } from '#events/append-events.ts';
import type { OfflinePaymentRow } from '#payments/offline/offline-queries.ts';

/** Renders the object that the APIs and both offline events contain. */
export function offlineObject(row: OfflinePaymentRow): { [key: string]: Json } {
  const { status } = row;
  return {
    id: row.id,
    object: 'offline_payment',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    status,
    bounce_reason: row.bounce_reason,
    payment_intent: row.payment_intent_id,
    payment: row.payment_id,
    nonce: row.nonce,
    terminal: row.terminal_id,
    amount: toJsonAtoms(row.amount),
    presentment: presentmentObject(row),
    presentment_problem: row.presentment_problem,
    accepted_at: row.accepted_at.toISOString(),
    created: row.created.toISOString(),
  };
}

function presentmentObject({ presentment }: OfflinePaymentRow) {
  if (presentment === null) return null;
  const { currency, amount, rate, margin, quotedAt } = presentment;
  return { currency, amount, rate, margin, quoted_at: quotedAt };
}

export function offlineDraft(
  row: OfflinePaymentRow & { readonly status: 'succeeded' | 'bounced' },
  stamp: Stamp,
): EventDraft {
  return {
    tenant: { accountId: row.account_id, livemode: row.livemode },
    type: `offline_payment.${row.status}`,
    objectId: row.id,
    object: offlineObject(row),
    stamp,
  };
}
