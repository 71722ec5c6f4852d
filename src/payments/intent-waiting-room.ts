import type { Clock } from '#core/clock.ts';
import { perProcess } from '#core/per-process.ts';
import type { Database } from '#db/database.ts';
import { createWaitingRoom } from '#db/waiting-room.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { selectIntents, selectNextForTerminals } from '#payments/intent-queries.ts';

/**
 * Long-poll registry of requests that wait for an intent, by its id; the topic `intent` notifies
 * them.
 */
export const intentRoom = perProcess(
  ({ db, wakeups }: { readonly db: Database; readonly wakeups: Wakeups }) =>
    createWaitingRoom({
      wakeups,
      topic: 'intent',
      read: async (ids) => {
        const intents = await selectIntents(db, ids);
        return new Map(intents.map((intent) => [intent.id, intent]));
      },
    }),
);

/**
 * Long-poll registry of terminals that wait for work: keyed by terminal id, notified by the topic
 * `terminal`.
 */
export const terminalRoom = perProcess(
  (ctx: { readonly db: Database; readonly wakeups: Wakeups; readonly clock: Clock }) =>
    createWaitingRoom({
      wakeups: ctx.wakeups,
      topic: 'terminal',
      read: async (terminalIds) => {
        const intents = await selectNextForTerminals(ctx.db, terminalIds, ctx.clock.now());
        return new Map(intents.map((intent) => [intent.terminalId, intent]));
      },
    }),
);
