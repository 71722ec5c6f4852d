import type { Answer } from '#core/answer.ts';
import type { Refusal } from '#core/refusal.ts';
import { createBatcher } from '#db/batching.ts';
import { tenantKey } from '#db/commit-order.ts';
import { CommitUnknown, type Database, DatabaseUnavailable, type Pipeline } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { type AtOnce, createAtOnce } from '#payments/create-at-once.ts';
import { createCarefully } from '#payments/create-carefully.ts';
import type { CreateRequest, IntentIds } from '#payments/create-request.ts';

export type CreateIntent = (request: CreateRequest) => Promise<Answer | Refusal>;

/** One batch at work in the database, one that waits there, one that we make ready. */
const MAX_IN_FLIGHT = 3;
/** Larger batches save little more, and the first of them waits for the last. */
const MAX_ITEMS = 24;

interface CreatorDeps extends IntentIds {
  readonly db: Database;
  readonly wakeups: Wakeups;
}

interface Written {
  readonly outcomes: readonly ({ readonly created: boolean } | null)[];
  readonly deliveries: number;
}

/** After the commit: tells terminals of their intents, and webhook workers of their deliveries. */
function wake(wakeups: Wakeups, requests: readonly CreateRequest[], written: Written): void {
  requests.forEach(({ input }, item) => {
    if (written.outcomes[item]?.created) wakeups.send('terminal', input.terminalId);
  });
  if (written.deliveries > 0) wakeups.send('deliveries');
}

/** Requests that are decided with the orders of these accounts and modes in hand. */
interface CarefulBatch {
  readonly accounts: ReadonlySet<string>;
  readonly done: Promise<unknown>;
}

/**
 * Who came while an account's order is in hand would find it taken, be decided carefully as well,
 * and take it from the next: one careful batch would make all that follow careful.
 */
async function untilNobodyDecides(batches: ReadonlySet<CarefulBatch>, account: string) {
  for (;;) {
    const batch = [...batches].find(({ accounts }) => accounts.has(account));
    if (batch === undefined) return;
    await batch.done;
  }
}

/**
 * Creates payment intents by group commit: what waits while earlier batches are under way shares
 * one transaction. Key, intent, event, deliveries and stored response of each commit together.
 * What is plain is written at once; the rest then shares batches that decide with locks in hand.
 */
export function createIntentCreator(deps: CreatorDeps): CreateIntent {
  const { db, wakeups } = deps;
  const size = { maxInFlight: MAX_IN_FLIGHT, maxItems: MAX_ITEMS };
  let pipeline: Pipeline | null = null;
  const careful = new Set<CarefulBatch>();
  /** What a lost statement may have created, or may yet: nobody hears that nothing was done. */
  const unknown = new WeakSet<CreateRequest>();
  const plain = createBatcher<CreateRequest, AtOnce>({
    ...size,
    run: async (requests) => {
      pipeline ??= db.openPipeline();
      const written = await createAtOnce({ ...deps, pipeline }, requests).catch((error) => {
        if (error instanceof CommitUnknown) for (const request of requests) unknown.add(request);
        throw error;
      });
      wake(wakeups, requests, written);
      return written.outcomes;
    },
  });
  const others = createBatcher<CreateRequest, Answer | Refusal>({
    ...size,
    run: async (requests) => {
      const accounts = new Set(requests.map(({ standing }) => tenantKey(standing.tenant)));
      const work = createCarefully(deps, requests);
      const batch = { accounts, done: work.catch(() => {}) };
      careful.add(batch);
      const written = await work.finally(() => careful.delete(batch));
      wake(wakeups, requests, written);
      return written.outcomes.map(({ answer }) => answer);
    },
  });
  return async (request) => {
    await untilNobodyDecides(careful, tenantKey(request.standing.tenant));
    const done = await plain.add(request);
    if (done !== null) return done.answer;
    return others.add(request).catch((error) => {
      if (!(error instanceof DatabaseUnavailable && unknown.has(request))) throw error;
      throw new CommitUnknown('a statement was lost, and so was its second try', { cause: error });
    });
  };
}
