import type { Answer, Refusal } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import { activeTraceparent } from '#core/tracing.ts';
import { createBatcher, createLateBatcher } from '#db/batching.ts';
import { CommitUnknown, type Database, DatabaseUnavailable, type Pipeline } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { EVENTS_TOPIC, eventsKey } from '#events/append.ts';
import { AccountClocks } from '#payments/account-clocks.ts';
import { ContendedAccounts } from '#payments/contended-accounts.ts';
import {
  type AtOnce,
  type CreatedAtOnce,
  createAtOnce,
  createUnderLocks,
} from '#payments/create-at-once.ts';
import { createCarefully } from '#payments/create-carefully.ts';
import type { CreateRequest, IntentIds } from '#payments/create-request.ts';

export type CreateIntent = (request: CreateRequest) => Promise<Answer | Refusal>;

const BATCHES = {
  /**
   * One is at work in the database, and one waits there. With three of 24, batches were smaller: a
   * create took 9 % more processor time, and 64 connections made 5 % fewer of them.
   */
  maxInFlight: 2,
  /** With 64 there were no more creates, and the slowest hundredth took longer. */
  maxItems: 32,
} as const;
const BUSY = 'busy';
/**
 * For accounts for which other processes write too: their order changes hands once per batch. One
 * batch at a time, and made up when it has the locks: what arrives meanwhile shares it, and the
 * next one waits for its turn. It may be large, because a change of hands costs more than a few
 * creates.
 */
const UNDER_LOCKS = { maxInFlight: 1, maxItems: 64 } as const;

interface CreatorDeps extends IntentIds {
  readonly clock: Clock;
  readonly db: Database;
  readonly wakeups: Wakeups;
}

interface Written {
  readonly outcomes: readonly ({ readonly created: boolean } | null)[];
  readonly deliveries: number;
}

/** After the commit: tells terminals of their intents, streams and webhook workers of events. */
function wake(wakeups: Wakeups, requests: readonly CreateRequest[], written: Written): void {
  const accounts = new Set<string>();
  requests.forEach(({ input, standing }, item) => {
    if (!written.outcomes[item]?.created) return;
    wakeups.send('terminal', input.terminalId);
    accounts.add(eventsKey(standing.tenant));
  });
  for (const account of accounts) wakeups.send(EVENTS_TOPIC, account);
  if (written.deliveries > 0) wakeups.send('deliveries');
}

/** Wakes those who wait for intents of a batch, or notes that nobody knows if it was written. */
async function finish(
  noted: { readonly wakeups: Wakeups; readonly unknown: WeakSet<CreateRequest> },
  taken: () => readonly CreateRequest[],
  work: Promise<CreatedAtOnce>,
): Promise<CreatedAtOnce> {
  try {
    const done = await work;
    wake(noted.wakeups, taken(), done);
    return done;
  } catch (error) {
    // A lost statement may create these yet: no caller is told that nothing was done.
    if (error instanceof CommitUnknown) for (const request of taken()) noted.unknown.add(request);
    throw error;
  }
}

/** Opened by the first batch: the API's document is built without a database. */
function pipelineOf(db: Database): () => Pipeline {
  let pipeline: Pipeline | null = null;
  return () => {
    pipeline ??= db.openPipeline();
    return pipeline;
  };
}

/**
 * Creates payment intents by group commit: what waits while earlier batches are under way shares
 * one transaction. Key, intent, event, deliveries and stored response of each commit together. What
 * is plain is written at once: by a statement that never waits, or, where others write for the same
 * account, by the same statement under the account's lock. The rest shares batches that decide one
 * request at a time.
 */
export function createIntentCreator(
  deps: CreatorDeps,
  contended = new ContendedAccounts(),
): CreateIntent {
  // Those that wait for locks have a connection of their own.
  const [pipeline, lockPipeline] = [pipelineOf(deps.db), pipelineOf(deps.db)];
  const clocks = new AccountClocks();
  const unknown = new WeakSet<CreateRequest>();
  const noted = { wakeups: deps.wakeups, unknown };
  const plain = createBatcher<CreateRequest, AtOnce | typeof BUSY>({
    ...BATCHES,
    run: async (requests) => {
      const own = { ...deps, pipeline: pipeline(), clocks };
      const { outcomes, busy } = await finish(noted, () => requests, createAtOnce(own, requests));
      return outcomes.map((outcome, item) => (busy.has(item) ? BUSY : outcome));
    },
  });
  const underLocks = createLateBatcher<CreateRequest, AtOnce>({
    ...UNDER_LOCKS,
    run: async (draw) => {
      const own = { ...deps, pipeline: lockPipeline(), clocks };
      const work = createUnderLocks(own, draw, UNDER_LOCKS.maxItems);
      const done = await finish(noted, draw.taken, contended.track(draw.waiting(), work));
      return done.outcomes;
    },
  });
  const others = createBatcher<CreateRequest, Answer | Refusal>({
    ...BATCHES,
    run: async (requests) => {
      const done = await contended.track(requests, createCarefully(deps, requests));
      wake(deps.wakeups, requests, done);
      return done.outcomes.map(({ answer }) => answer);
    },
  });
  const create = async (request: CreateRequest) => {
    if (!contended.has(request)) {
      await contended.untilUnlocked(request);
      const done = await plain.add(request);
      if (done === null) return others.add(request);
      contended.note(request, { inVain: done === BUSY });
      if (done !== BUSY) return done.answer;
    }
    const done = await underLocks.add(request);
    return done === null ? others.add(request) : done.answer;
  };
  return (asked) => {
    const traceparent = activeTraceparent();
    const request = traceparent === null ? asked : { ...asked, traceparent };
    return create(request).catch((error) => {
      if (!(error instanceof DatabaseUnavailable && unknown.has(request))) throw error;
      throw new CommitUnknown('a statement was lost, and so was its second try', { cause: error });
    });
  };
}
