import type { Clock } from '#core/clock.ts';
import { perProcess } from '#core/once-per-process.ts';
import type { Database } from '#db/database.ts';
import { createLongPolls } from '#db/long-polls.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { selectIntents, selectNextForTerminals } from '#payments/intent-queries.ts';

/**
 * Long-poll registry of requests that wait for an intent to change. Its keys are intent IDs; the
 * topic `intent` notifies it.
 */
export const intentPolls = perProcess(
  ({ db, wakeups }: { readonly db: Database; readonly wakeups: Wakeups }) =>
    createLongPolls({
      wakeups,
      topic: 'intent',
      read: async (ids) => {
        const intents = await selectIntents(db, ids);
        return new Map(intents.map((intent) => [intent.id, intent]));
      },
    }),
);

/**
 * Long-poll registry of terminals that wait for an intent to charge. Its keys are terminal IDs; the
 * topic `terminal` notifies it.
 */
export const terminalPolls = perProcess(
  (ctx: { readonly db: Database; readonly wakeups: Wakeups; readonly clock: Clock }) =>
    createLongPolls({
      wakeups: ctx.wakeups,
      topic: 'terminal',
      read: async (terminalIds) => {
        const intents = await selectNextForTerminals(ctx.db, terminalIds, ctx.clock.now());
        return new Map(intents.map((intent) => [intent.terminal_id, intent]));
      },
    }),
);
