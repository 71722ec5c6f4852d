import { assert } from '#core/assert.ts';
import { CommitUnknown, DatabaseUnavailable } from '#db/database.ts';

/**
 * Group commit: what waits while earlier batches are under way goes as one multi-row statement.
 * A lone item goes at once. There is no timer unless there is a gap: a timer of 2 ms cut one
 * connection from 1,879 to 337 creates per second.
 */
export interface BatcherOptions<Item, Outcome> {
  /** Runs all items in one transaction; one outcome per item, in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Outcome[]>;
  /** Batches under way at once. */
  readonly maxInFlight: number;
  readonly maxItems: number;
  /** From one batch's start to the next, unless that one is full: for what nobody waits for. */
  readonly gapMs?: number;
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

export function createBatcher<Item, Outcome>(
  options: BatcherOptions<Item, Outcome>,
): Batcher<Item, Outcome> {
  type Batch = readonly Waiting<Item, Outcome>[];
  const waiting: Waiting<Item, Outcome>[] = [];
  const { gapMs = 0 } = options;
  let inFlight = 0;
  let started = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const settle = async (batch: Batch) => {
    const outcomes = await options.run(batch.map((entry) => entry.item));
    assert(outcomes.length === batch.length, 'a batch must have one outcome per item');
    batch.forEach((entry, index) => {
      entry.resolve(outcomes[index] as Outcome);
    });
  };
  const flush = async () => {
    const batch = waiting.splice(0, options.maxItems);
    started = performance.now();
    inFlight++;
    try {
      await settle(batch);
    } catch (error) {
      if (batch.length === 1 || error instanceof DatabaseUnavailable) rejectAll(batch, error);
      else await settleSingly(batch, error, settle);
    } finally {
      inFlight--;
      pump();
    }
  };
  const isEarly = () => waiting.length < options.maxItems && performance.now() < started + gapMs;
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
