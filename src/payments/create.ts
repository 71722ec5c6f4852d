import type { Answer, Refusal } from '#core/answer.ts';
import type { Clock } from '#core/clock.ts';
import { activeTraceparent } from '#core/tracing.ts';
import { type Batcher, createBatcher } from '#db/batching.ts';
import { CommitUnknown, type Database, DatabaseUnavailable, type Pipeline } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { EVENTS_TOPIC, eventsKey } from '#events/append.ts';
import { AccountClocks } from '#payments/account-clocks.ts';
import { ContendedAccounts } from '#payments/contended-accounts.ts';
import {
  type AtOnce,
  type CreatedAtOnce,
  createAtOnce,
  runUnderLocks,
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
 * batch at a time, so that what arrives meanwhile shares the next one: several batches would wait
 * for each other's locks and hold fewer creates each. It may be large, because a change of hands
 * costs more than a few creates.
 */
const UNDER_LOCK = { maxInFlight: 1, maxItems: 64 } as const;
/**
 * A batch waits for its locks with the time that it was sent at. A later one may have been written
 * meanwhile, and then its creates are sent again: with that time, or a later one.
 */
const TRIES_UNDER_LOCK = 3;

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

/** Opened by the first batch: the API's document is built without a database. */
function pipelineOf(db: Database): () => Pipeline {
  let pipeline: Pipeline | null = null;
  return () => {
    pipeline ??= db.openPipeline();
    return pipeline;
  };
}

async function addUnderLock(
  batcher: Batcher<CreateRequest, AtOnce | typeof BUSY>,
  request: CreateRequest,
): Promise<AtOnce> {
  for (let tries = 0; tries < TRIES_UNDER_LOCK; tries++) {
    const done = await batcher.add(request);
    if (done !== BUSY) return done;
  }
  return null;
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
  /** A lost statement may create these yet: no caller is told that nothing was done. */
  const unknown = new WeakSet<CreateRequest>();
  const finish = async (requests: readonly CreateRequest[], work: Promise<CreatedAtOnce>) => {
    const done = await work.catch((error) => {
      if (error instanceof CommitUnknown) for (const request of requests) unknown.add(request);
      throw error;
    });
    wake(deps.wakeups, requests, done);
    return requests.map((_, item) => (done.busy.has(item) ? BUSY : (done.outcomes[item] ?? null)));
  };
  const plain = createBatcher<CreateRequest, AtOnce | typeof BUSY>({
    ...BATCHES,
    run: (requests) => {
      const own = { ...deps, pipeline: pipeline(), clocks };
      return finish(requests, createAtOnce(own, requests));
    },
  });
  const underLock = createBatcher<CreateRequest, AtOnce | typeof BUSY>({
    ...UNDER_LOCK,
    run: (requests) => {
      const own = { ...deps, pipeline: lockPipeline(), clocks };
      const work = createAtOnce(own, requests, runUnderLocks);
      return finish(requests, contended.track(requests, work));
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
    const done = await addUnderLock(underLock, request);
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
