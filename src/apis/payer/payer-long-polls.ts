import { perProcess } from '#core/once-per-process.ts';
import { createLongPolls } from '#db/long-polls.ts';
import { selectPayerRequests } from '#payers/request-queries.ts';
import { payerOf } from '#payments/answer-confirmation.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectAskedIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { type PayerResult, selectPayerResults } from '#payments/payer-results.ts';

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

interface PayerUpdates {
  readonly asked: readonly PaymentIntent[];
  readonly results: readonly PayerResult[];
}

/**
 * Interval at which all waiting wallets are read, in case a hint was lost. Longer than a till's,
 * because many more wallets wait, and a till does not depend on them.
 */
const UPDATES_POLL_MS = 10_000;

/**
 * Long-poll registry of wallets that wait for a payment to confirm or to end. Its keys are payer
 * IDs; the topic `payer` notifies it.
 */
export const updatePolls = perProcess(({ db, wakeups, clock }: ApiContext) =>
  createLongPolls<PayerUpdates>({
    wakeups,
    topic: 'payer',
    pollMs: UPDATES_POLL_MS,
    read: async (payerIds) => {
      const [intents, results] = await Promise.all([
        selectAskedIntents(db, payerIds),
        selectPayerResults(db, payerIds, clock.now()),
      ]);
      const asked = Map.groupBy(intents, (intent) => payerOf(intent) ?? '');
      const ended = Map.groupBy(results, ({ payerId }) => payerId);
      return new Map(
        payerIds.map((id) => [id, { asked: asked.get(id) ?? [], results: ended.get(id) ?? [] }]),
      );
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
