import type { Database } from '#db/database.ts';
import { createWaitingRoom, type WaitingRoom } from '#db/waiting-room.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { selectIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';

/**
 * Long-poll registry of requests that wait for an intent, by its id; the topic `intent` notifies
 * them.
 */
export function createIntentRoom(deps: {
  readonly db: Database;
  readonly wakeups: Wakeups;
}): WaitingRoom<PaymentIntent> {
  return createWaitingRoom({
    wakeups: deps.wakeups,
    topic: 'intent',
    read: async (ids) => {
      const intents = await selectIntents(deps.db, ids);
      return new Map(intents.map((intent) => [intent.id, intent]));
    },
  });
}
