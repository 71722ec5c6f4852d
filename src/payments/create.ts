import type { Answer, Refusal } from '#core/answer.ts';
import { activeTraceparent } from '#core/tracing.ts';
import { createBatcher } from '#db/batching.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { EVENTS_TOPIC, eventsKey } from '#events/append.ts';
import { type CreateDeps, type Created, createBatch } from '#payments/create-batch.ts';
import type { CreateRequest } from '#payments/create-request.ts';

export type CreateIntent = (request: CreateRequest) => Promise<Answer | Refusal>;

const BATCHES = {
  /**
   * Batches that run concurrently. Those of one account run one after the other, so concurrency
   * serves other accounts.
   */
  maxInFlight: 3,
  maxItems: 64,
} as const;

/** Wakes terminals, streams and webhook workers. Call it after the commit. */
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

/**
 * Creates payment intents by group commit: requests that arrive while earlier batches run share one
 * transaction. Each intent commits together with its key, event, deliveries and stored response.
 */
export function createIntentCreator(
  deps: CreateDeps & { readonly wakeups: Wakeups },
): CreateIntent {
  const batcher = createBatcher<CreateRequest, Created>({
    ...BATCHES,
    // Queues by account: a batch locks its accounts, so a second one with the same account would
    // only wait.
    queueOf: ({ merchant }) => tenantKey(merchant.tenant),
    run: async (requests) => {
      const written = await createBatch(deps, requests);
      wake(deps.wakeups, requests, written);
      return written.outcomes;
    },
  });
  return async (asked) => {
    const traceparent = activeTraceparent();
    const request = traceparent === null ? asked : { ...asked, traceparent };
    return (await batcher.add(request)).answer;
  };
}
