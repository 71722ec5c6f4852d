import type { Answer, Refusal } from '#core/answer.ts';
import { activeTraceparent } from '#core/tracing.ts';
import { createBatcher } from '#db/batching.ts';
import { tenantKey } from '#db/commit-order.ts';
import { CommitUnknown, type Database, DatabaseUnavailable, type Pipeline } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { EVENTS_TOPIC, eventsKey } from '#events/append.ts';
import { AccountClocks } from '#payments/account-clocks.ts';
import {
  type AtOnce,
  type CreatedAtOnce,
  createAtOnce,
  createUnderLock,
} from '#payments/create-at-once.ts';
import { createCarefully } from '#payments/create-carefully.ts';
import type { CreateRequest, IntentIds } from '#payments/create-request.ts';

export type CreateIntent = (request: CreateRequest) => Promise<Answer | Refusal>;

/** One batch is at work in the database, one waits there, and one is being prepared. */
const MAX_IN_FLIGHT = 3;
/** Larger batches save little more, and the first of them waits for the last. */
const MAX_ITEMS = 24;
const BUSY = 'busy';
/** For an account for which other processes write too: its order changes hands once per batch. */
const MAX_ITEMS_UNDER_LOCK = 64;
/**
 * After this the way that does not wait is tried again: long next to a batch, short in a shop's
 * day.
 */
const CONTENDED_MS = 50;

interface CreatorDeps extends IntentIds {
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

/** A batch under the locks of these accounts' orders. */
interface LockedBatch {
  readonly accounts: ReadonlySet<string>;
  readonly done: Promise<unknown>;
}

/**
 * Accounts for which this process has seen others write at the same time. Their creates wait for
 * the account's order from the start: the statement that never waits would do nothing.
 */
class ContendedAccounts {
  readonly #until = new Map<string, number>();
  readonly #batches = new Set<LockedBatch>();

  note(account: string): void {
    this.#until.set(account, performance.now() + CONTENDED_MS);
  }

  has(account: string): boolean {
    const until = this.#until.get(account);
    if (until === undefined) return false;
    if (performance.now() < until) return true;
    this.#until.delete(account);
    return false;
  }

  async track<T>(requests: readonly CreateRequest[], work: Promise<T>): Promise<T> {
    const accounts = new Set(requests.map(({ standing }) => tenantKey(standing.tenant)));
    const batch = { accounts, done: work.catch(() => {}) };
    this.#batches.add(batch);
    return work.finally(() => this.#batches.delete(batch));
  }

  /**
   * Otherwise the next statement would meet our own batches, and the account would stay contended.
   */
  async untilUnlocked(account: string): Promise<void> {
    for (;;) {
      const batch = [...this.#batches].find(({ accounts }) => accounts.has(account));
      if (batch === undefined) return;
      await batch.done;
    }
  }
}

/**
 * Creates payment intents by group commit: what waits while earlier batches are under way shares
 * one transaction. Key, intent, event, deliveries and stored response of each commit together. What
 * is plain is written at once: by a statement that never waits, or, where others write for the same
 * account, by the same statement under the account's lock. The rest shares batches that decide one
 * request at a time.
 */
export function createIntentCreator(deps: CreatorDeps): CreateIntent {
  const { db, wakeups } = deps;
  const size = { maxInFlight: MAX_IN_FLIGHT, maxItems: MAX_ITEMS };
  let pipeline: Pipeline | null = null;
  const clocks = new AccountClocks();
  const contended = new ContendedAccounts();
  /** A lost statement may create these yet: no caller is told that nothing was done. */
  const unknown = new WeakSet<CreateRequest>();
  const finish = async (requests: readonly CreateRequest[], work: Promise<CreatedAtOnce>) => {
    const done = await work.catch((error) => {
      if (error instanceof CommitUnknown) for (const request of requests) unknown.add(request);
      throw error;
    });
    wake(wakeups, requests, done);
    return requests.map((_, item) => (done.busy.has(item) ? BUSY : (done.outcomes[item] ?? null)));
  };
  const plain = createBatcher<CreateRequest, AtOnce | typeof BUSY>({
    ...size,
    run: (requests) => {
      pipeline ??= db.openPipeline();
      return finish(requests, createAtOnce({ ...deps, pipeline, clocks }, requests));
    },
  });
  const underLock = createBatcher<CreateRequest, AtOnce | typeof BUSY>({
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_ITEMS_UNDER_LOCK,
    run: (requests) => {
      const work = createUnderLock({ ...deps, clocks }, requests);
      return finish(requests, contended.track(requests, work));
    },
  });
  const others = createBatcher<CreateRequest, Answer | Refusal>({
    ...size,
    run: async (requests) => {
      const done = await contended.track(requests, createCarefully(deps, requests));
      wake(wakeups, requests, done);
      return done.outcomes.map(({ answer }) => answer);
    },
  });
  const create = async (request: CreateRequest) => {
    const account = tenantKey(request.standing.tenant);
    if (!contended.has(account)) {
      await contended.untilUnlocked(account);
      const done = await plain.add(request);
      if (done === null) return others.add(request);
      if (done !== BUSY) return done.answer;
      contended.note(account);
    }
    const done = await underLock.add(request);
    return done === null || done === BUSY ? others.add(request) : done.answer;
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
