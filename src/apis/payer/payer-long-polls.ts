import { perProcess } from '#core/once-per-process.ts';
import { createLongPolls } from '#db/long-polls.ts';
import { selectPayerRequests } from '#payers/request-queries.ts';
import { payerOf } from '#payments/answer-confirmation.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectAskedIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';

/**
 * Long-poll registry of payers who wait for a payment to confirm. Its keys are payer IDs; the topic
 * `payer` notifies it.
 */
export const confirmationPolls = perProcess(({ db, wakeups }: ApiContext) =>
  createLongPolls<readonly PaymentIntent[]>({
    wakeups,
    topic: 'payer',
    read: async (payerIds) => {
      const intents = await selectAskedIntents(db, payerIds);
      return Map.groupBy(intents, (intent) => payerOf(intent) ?? '');
    },
  }),
);

/** Long-poll registry of payers who wait for a result from the chain. Its keys are request IDs. */
export const requestPolls = perProcess(({ db, wakeups }: ApiContext) =>
  createLongPolls({
    wakeups,
    topic: 'payer-request',
    read: async (ids) => {
      const rows = await selectPayerRequests(db, ids);
      return new Map(rows.map((row) => [row.id, row]));
    },
  }),
);
