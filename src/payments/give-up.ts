import { isRefusal } from '#core/refusal.ts';
import type { Tx } from '#db/database.ts';
import { type PaymentIntent, transition } from '#payments/payment-intent.ts';
import { lockUnpaidIntents } from '#payments/queries.ts';
import { type Change, saveSteps } from '#payments/save.ts';

/** One transaction's worth. */
const BATCH = 200;

/**
 * Cancels unpaid intents that are older than a loss of the database: their cancellation may be
 * among what was lost. @returns those that were locked; none when none is left.
 */
export async function giveUpUnpaid(
  tx: Tx,
  of: { readonly livemode: boolean; readonly before: Date; readonly now: Date },
): Promise<readonly PaymentIntent[]> {
  const intents = await lockUnpaidIntents(tx, { ...of, limit: BATCH });
  const changes = intents.flatMap((before): Change[] => {
    const steps = transition(before, { type: 'give_up' }, of.now);
    return isRefusal(steps) ? [] : [{ before, steps }];
  });
  await saveSteps(tx, changes, of.now);
  return intents;
}
