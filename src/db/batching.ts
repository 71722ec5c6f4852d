import { assert } from '#core/assert.ts';
import { CommitUnknown, DatabaseUnavailable } from '#db/database.ts';

/**
 * Group commit: what waits while earlier batches are under way goes as one multi-row statement.
 * A lone item goes at once. There is no timer unless there is a gap: a timer of 2 ms cut one
 * connection from 1,879 to 337 creates per second.
 */
interface Limits {
  /** Batches under way at once. */
  readonly maxInFlight: number;
  readonly maxItems: number;
  /** From one batch's start to the next, unless that one is full: for what nobody waits for. */
  readonly gapMs?: number;
}

export interface BatcherOptions<Item, Outcome> extends Limits {
  /** Runs all items in one transaction; one outcome per item, in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Outcome[]>;
}

/** What a batch is made of. */
export interface Draw<Item> {
  /** What waits now, as much as a batch may hold; at least one. */
  waiting(): readonly Item[];
  /** Takes what waits by now and fits, as much as a batch may hold. To be called at most once. */
  take(fits: (item: Item) => boolean): readonly Item[];
  /** What it has taken. */
  taken(): readonly Item[];
}

export interface LateBatcherOptions<Item, Outcome> extends Limits {
  /**
   * Takes its items when it is ready for them, and runs them in one transaction; one outcome per
   * item, in their order. If it throws before that, it has failed for those that it began with.
   */
  readonly run: (draw: Draw<Item>) => Promise<readonly Outcome[]>;
}

export interface Batcher<Item, Outcome> {
  add(item: Item): Promise<Outcome>;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

function rejectAll(batch: readonly Pick<Waiting<never, never>, 'reject'>[], error: unknown): void {
  for (const entry of batch) entry.reject(error);
}

/**
 * One bad item must not fail its neighbours: a failed batch is run again item by item. When the
 * database goes away meanwhile, the rest hear so at once instead of waiting for it in turn. After
 * a commit that may have happened nobody hears that nothing was done.
 */
async function settleSingly<Entry extends Pick<Waiting<never, never>, 'reject'>>(
  batch: readonly Entry[],
  fault: unknown,
  settle: (batch: readonly Entry[]) => Promise<void>,
): Promise<void> {
  for (const [index, entry] of batch.entries()) {
    try {
      await settle([entry]);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) {
        return rejectAll(batch.slice(index), fault instanceof CommitUnknown ? fault : error);
      }
      entry.reject(error);
    }
  }
}

/** Those of `waiting` that fit, at most so many; they wait no longer. */
function takeFrom<Entry>(waiting: Entry[], most: number, fits: (entry: Entry) => boolean): Entry[] {
  const taken: Entry[] = [];
  const left: Entry[] = [];
  for (const entry of waiting) (taken.length < most && fits(entry) ? taken : left).push(entry);
  waiting.splice(0, waiting.length, ...left);
  return taken;
}

/** One batch of what waits in `source`; what it takes is put into `batch`, and gets its outcome. */
async function runFrom<Item, Outcome>(
  source: Waiting<Item, Outcome>[],
  { run, maxItems }: LateBatcherOptions<Item, Outcome>,
  batch: Waiting<Item, Outcome>[],
): Promise<void> {
  const taken = () => batch.map(({ item }) => item);
  const outcomes = await run({
    waiting: () => source.slice(0, maxItems).map(({ item }) => item),
    take: (fits) => {
      assert(batch.length === 0, 'a batch is taken once');
      batch.push(...takeFrom(source, maxItems, ({ item }) => fits(item)));
      return taken();
    },
    taken,
  });
  assert(batch.length > 0, 'a batch must take something');
  assert(outcomes.length === batch.length, 'a batch must have one outcome per item');
  batch.forEach((entry, index) => {
    entry.resolve(outcomes[index] as Outcome);
  });
}

/** A batcher whose batches are not made up before they can be written: see {@link Draw}. */
export function createLateBatcher<Item, Outcome>(
  options: LateBatcherOptions<Item, Outcome>,
): Batcher<Item, Outcome> {
  type Entry = Waiting<Item, Outcome>;
  const waiting: Entry[] = [];
  const { gapMs = 0, maxItems } = options;
  let inFlight = 0;
  let started = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const settle = (batch: readonly Entry[]) => runFrom([...batch], options, []);
  const flush = async () => {
    const batch: Entry[] = [];
    const begunFor = Math.min(waiting.length, maxItems);
    started = performance.now();
    inFlight++;
    try {
      await runFrom(waiting, options, batch);
    } catch (error) {
      // Those who came later have a try of their own.
      if (batch.length === 0) batch.push(...waiting.splice(0, begunFor));
      if (batch.length === 1 || error instanceof DatabaseUnavailable) rejectAll(batch, error);
      else await settleSingly(batch, error, settle);
    } finally {
      inFlight--;
      pump();
    }
  };
  const isEarly = () => waiting.length < maxItems && performance.now() < started + gapMs;
  const pump = () => {
    while (waiting.length > 0 && inFlight < options.maxInFlight) {
      if (gapMs > 0 && isEarly()) {
        clearTimeout(timer);
        timer = setTimeout(pump, started + gapMs - performance.now());
        return;
      }
      void flush();
    }
  };
  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        // Deferred by a microtask turn, so that requests of one socket read go together.
        if (waiting.length === 1) setImmediate(pump);
      }),
  };
}

export function createBatcher<Item, Outcome>(
  options: BatcherOptions<Item, Outcome>,
): Batcher<Item, Outcome> {
  return createLateBatcher({ ...options, run: (draw) => options.run(draw.take(() => true)) });
}
