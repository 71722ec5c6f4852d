import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { createWaitingRoom, type WaitingRoom } from '#db/waiting-room.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { selectNextForTerminals } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';

/**
 * Long-poll registry of terminals that wait for work: keyed by terminal id, notified by the topic
 * `terminal`.
 */
export function createTerminalRoom(deps: {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
}): WaitingRoom<PaymentIntent> {
  return createWaitingRoom({
    wakeups: deps.wakeups,
    topic: 'terminal',
    read: async (terminalIds) => {
      const intents = await selectNextForTerminals(deps.db, terminalIds, deps.clock.now());
      return new Map(intents.map((intent) => [intent.terminalId, intent]));
    },
  });
}
