/**
 * Group commit: what waits while earlier batches are under way goes as one multi-row statement.
 * No timer: a lone item goes at once. (A 2 ms timer cut one connection from 1,879 to 337 creates
 * per second; see measured numbers in bench/README.md.)
 */
export interface BatcherOptions<Item, Outcome> {
  /** Runs all items in one transaction; one outcome per item, in their order. */
  readonly run: (items: readonly Item[]) => Promise<readonly Outcome[]>;
  /** Batches under way at once. */
  readonly maxInFlight: number;
  readonly maxItems: number;
}

export interface Batcher<Item, Outcome> {
  add(item: Item): Promise<Outcome>;
}

interface Waiting<Item, Outcome> {
  readonly item: Item;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: unknown) => void;
}

export function createBatcher<Item, Outcome>(
  options: BatcherOptions<Item, Outcome>,
): Batcher<Item, Outcome> {
  const waiting: Waiting<Item, Outcome>[] = [];
  let inFlight = 0;

  const settle = async (batch: readonly Waiting<Item, Outcome>[]) => {
    const outcomes = await options.run(batch.map((entry) => entry.item));
    batch.forEach((entry, index) => {
      entry.resolve(outcomes[index] as Outcome);
    });
  };
  // One bad item must not fail its neighbours: a failed batch is run again item by item.
  const settleSingly = async (batch: readonly Waiting<Item, Outcome>[]) => {
    for (const entry of batch) await settle([entry]).catch(entry.reject);
  };
  const flush = async () => {
    const batch = waiting.splice(0, options.maxItems);
    inFlight++;
    try {
      await settle(batch);
    } catch (error) {
      if (batch.length === 1) batch[0]?.reject(error);
      else await settleSingly(batch);
    } finally {
      inFlight--;
      pump();
    }
  };
  const pump = () => {
    while (waiting.length > 0 && inFlight < options.maxInFlight) void flush();
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
