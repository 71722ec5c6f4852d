import type { Answer, Refusal } from '#core/answer.ts';
import { perProcess } from '#core/once-per-process.ts';
import { createBatcher } from '#db/batching.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { EVENTS_TOPIC, eventsKey } from '#events/append-events.ts';
import { activeTraceparent } from '#observability/tracing.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { type Created, createBatch } from '#payments/create-intents-together.ts';
import type { CreateRequest } from '#payments/price-new-intent.ts';
import { numbersOf } from '#payments/reserve-settlement-numbers.ts';

const BATCHES = {
  /**
   * Number of concurrent batches. Batches of one account run one after the other, so a second batch
   * always serves other accounts.
   */
  maxInFlight: 3,
  maxItems: 64,
} as const;

/** Wakes terminals, event streams and webhook workers. Call it after the commit. */
function wake(
  wakeups: Wakeups,
  requests: readonly CreateRequest[],
  { outcomes, deliveries }: { readonly outcomes: readonly Created[]; readonly deliveries: number },
): void {
  const accounts = new Set<string>();
  requests.forEach(({ input, merchant }, item) => {
    if (!outcomes[item]?.created) return;
    wakeups.send('terminal', input.terminalId);
    accounts.add(eventsKey(merchant.tenant));
  });
  for (const account of accounts) wakeups.send(EVENTS_TOPIC, account);
  if (deliveries > 0) wakeups.send('deliveries');
}

const batcherOf = perProcess((ctx: ApiContext) => {
  const { db, wakeups, keys } = ctx;
  const ids = { idKey: keys.id, numbers: numbersOf(ctx) };
  return createBatcher<CreateRequest, Created>({
    ...BATCHES,
    // One queue per account: a batch locks its account, so another batch of that account would only
    // wait.
    queueOf: ({ merchant }) => tenantKey(merchant.tenant),
    run: async (requests) => {
      const written = await createBatch(db, ids, requests);
      wake(wakeups, requests, written);
      return written.outcomes;
    },
  });
});

/**
 * Creates a payment intent by group commit: requests that arrive while earlier batches run share
 * one transaction. Each intent commits together with its key, event, deliveries and stored
 * response.
 */
export async function createIntent(
  ctx: ApiContext,
  input: CreateRequest,
): Promise<Answer | Refusal> {
  const traceparent = activeTraceparent();
  const request = traceparent === null ? input : { ...input, traceparent };
  return (await batcherOf(ctx).add(request)).answer;
}
