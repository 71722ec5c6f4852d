import { answerWith, isRefusal } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';
import { updateWaiting } from '#idempotency/key-queries.ts';
import { FAILURE_DECLINES, SETTLEMENT_UNAVAILABLE } from '#payments/decline-codes.ts';
import { lockIntents, lockUnpaidIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { postponeOffline } from '#payments/offline/offline-queries.ts';
import { type IntentCommand, transition } from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';
import { type Change, saveSteps } from '#payments/save-intent-steps.ts';
import { dropUnsignedPayments } from '#settlement/chain-requests.ts';

/** Rows per transaction. */
const BATCH = 200;
/** Ends an attempt whose settlement job was canceled before it was signed. */
const DROPPED: IntentCommand = {
  type: 'not_settled',
  decline: FAILURE_DECLINES.settlement_failed,
  rule: SETTLEMENT_UNAVAILABLE,
};

function giveUp(before: PaymentIntent, now: Date): Change {
  const ended = transition(before, { type: 'give_up' }, now);
  // The transition is refused if a tap locked the intent first, which then stays `processing`.
  return { before, steps: isRefusal(ended) ? [] : ended };
}

function giveUpDropped(before: PaymentIntent, now: Date): Change {
  // Does not decline an offline sale: its till will forward it again, which creates a new
  // settlement job.
  if (before.offline !== null) return { before, steps: [] };
  const dropped = before.status === 'processing' ? transition(before, DROPPED, now) : [];
  const declined = isRefusal(dropped) ? [] : dropped;
  const { steps } = giveUp(declined.at(-1)?.intent ?? before, now);
  return { before, steps: [...declined, ...steps] };
}

/**
 * After a data loss, cancels unpaid intents from before it, and declines attempts that were not
 * signed yet, because their cancellation may have been lost. @returns the locked intents; empty if
 * none is left.
 */
export async function giveUpUnpaid(
  tx: Tx,
  overdue: { readonly livemode: boolean; readonly before: Date; readonly now: Date },
): Promise<readonly PaymentIntent[]> {
  const { now } = overdue;
  const dropped = await dropUnsignedPayments(tx, { ...overdue, limit: BATCH });
  const waiting = await lockIntents(tx, dropped);
  const unpaid = await lockUnpaidIntents(tx, { ...overdue, limit: BATCH });
  const changes = [
    ...waiting.map((before) => giveUpDropped(before, now)),
    ...unpaid.map((before) => giveUp(before, now)),
  ];
  const offline = waiting.filter((before) => before.offline !== null).map(({ id }) => id);
  await postponeOffline(tx, offline, now);
  await saveSteps(tx, changes, now);
  await updateWaiting(
    tx,
    changes.slice(0, waiting.length).map(({ before, steps }) => {
      const after = steps.at(-1)?.intent ?? before;
      return { resource: before.id, ...answerWith(200, renderIntent(after)) };
    }),
  );
  return [...waiting, ...unpaid];
}
