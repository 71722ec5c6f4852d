import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { Bug } from '#core/assert.ts';
import { createBatcher, createLateBatcher } from '#db/batching.ts';
import { CommitUnknown, DatabaseUnavailable } from '#db/database.ts';

/** A batcher whose batches wait until they are let go, and that notes what it was given. */
function gated(limits: { readonly maxInFlight: number; readonly maxItems: number }) {
  const batches: number[][] = [];
  const gates: (() => void)[] = [];
  const batcher = createBatcher<number, string>({
    ...limits,
    run: async (items) => {
      batches.push([...items]);
      await new Promise<void>((resolve) => gates.push(resolve));
      return items.map((item) => `done ${item}`);
    },
  });
  const letGo = async () => {
    gates.shift()?.();
    await turn();
    await turn();
  };
  return { batcher, batches, letGo };
}

function numbers(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index);
}

test('a lone item goes at once: nothing waits for company', async () => {
  const { batcher, batches, letGo } = gated({ maxInFlight: 1, maxItems: 10 });
  const outcome = batcher.add(1);
  await turn();
  assert.deepEqual(batches, [[1]]);
  await letGo();
  assert.equal(await outcome, 'done 1');
});

test('what waits meanwhile goes together, in order, and no more than fits', async () => {
  const { batcher, batches, letGo } = gated({ maxInFlight: 1, maxItems: 3 });
  const first = batcher.add(0);
  await turn();
  const rest = numbers(1, 5).map((item) => batcher.add(item));
  await turn();
  assert.deepEqual(batches, [[0]]);
  for (let i = 0; i < 3; i++) await letGo();
  assert.deepEqual(batches, [[0], [1, 2, 3], [4, 5]]);
  const outcomes = await Promise.all([first, ...rest]);
  assert.deepEqual(
    outcomes,
    numbers(0, 6).map((item) => `done ${item}`),
  );
});

test('no more batches than allowed are under way at once', async () => {
  const { batcher, batches, letGo } = gated({ maxInFlight: 2, maxItems: 1 });
  const outcomes = numbers(0, 5).map((item) => batcher.add(item));
  await turn();
  for (let running = 2; running <= 5; running++) {
    assert.equal(batches.length, running);
    await letGo();
  }
  for (let i = 0; i < 5; i++) await letGo();
  assert.equal((await Promise.all(outcomes)).length, 5);
});

test('one bad item fails alone: its neighbours are run again and succeed', async () => {
  const batches: number[][] = [];
  const batcher = createBatcher<number, number>({
    maxInFlight: 1,
    maxItems: 10,
    run: async (items) => {
      batches.push([...items]);
      if (items.includes(2)) throw new Error('bad item');
      return items.map((item) => item * 10);
    },
  });
  const outcomes = await Promise.allSettled(numbers(0, 5).map((item) => batcher.add(item)));
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : 'failed')),
    [0, 10, 'failed', 30, 40],
  );
  assert.deepEqual(batches, [[0, 1, 2, 3, 4], [0], [1], [2], [3], [4]]);
  assert.equal(await batcher.add(7), 70);
});

test('a database that is away refuses the whole batch at once, asked only once', async () => {
  let runs = 0;
  const batcher = createBatcher<number, number>({
    maxInFlight: 1,
    maxItems: 10,
    run: async () => {
      runs++;
      throw new DatabaseUnavailable('away');
    },
  });
  const outcomes = await Promise.allSettled(numbers(0, 5).map((item) => batcher.add(item)));
  assert.ok(outcomes.every((outcome) => outcome.status === 'rejected'));
  assert.equal(runs, 1);
});

test('after a commit that may have happened nobody hears that nothing was done', async () => {
  const faults = [new CommitUnknown('lost'), null, new DatabaseUnavailable('away')];
  let runs = 0;
  const batcher = createBatcher<number, number>({
    maxInFlight: 1,
    maxItems: 10,
    run: async (items) => {
      const fault = faults[runs++];
      if (fault instanceof Error) throw fault;
      return items;
    },
  });
  const outcomes = await Promise.allSettled(numbers(0, 4).map((item) => batcher.add(item)));
  const [first, ...rest] = outcomes;
  assert.deepEqual(first, { status: 'fulfilled', value: 0 });
  for (const outcome of rest) {
    assert.ok(outcome.status === 'rejected' && outcome.reason instanceof CommitUnknown);
  }
  assert.equal(runs, 3);
});

test('with a gap, what comes soon after a batch waits, unless it fills one', async () => {
  const batches: number[][] = [];
  const starts: number[] = [];
  const gapMs = 500;
  const batcher = createBatcher<number, number>({
    ...{ maxInFlight: 1, maxItems: 3, gapMs },
    run: async (items) => {
      batches.push([...items]);
      starts.push(performance.now());
      return items;
    },
  });
  await batcher.add(1);
  const early = [batcher.add(2)];
  await turn();
  early.push(batcher.add(3));
  await Promise.all(early);
  assert.deepEqual(batches, [[1], [2, 3]]);
  const [first = 0, second = 0] = starts;
  // Timers may ring a millisecond early.
  assert.ok(second - first >= gapMs - 2);
  await Promise.all([4, 5, 6, 7].map((item) => batcher.add(item)));
  assert.deepEqual(batches.slice(2), [[4, 5, 6], [7]]);
  assert.ok(Number(starts[2]) - second < gapMs, 'a full batch waits for nothing');
});

test('an item that was forgotten by its batch is a bug, not an endless wait', async () => {
  const batcher = createBatcher<number, number>({
    maxInFlight: 1,
    maxItems: 10,
    run: async (items) => items.slice(1),
  });
  await assert.rejects(batcher.add(1), Bug);
});

test('a thousand items added by many callers each get their own outcome', async () => {
  let most = 0;
  let running = 0;
  const batcher = createBatcher<number, number>({
    maxInFlight: 3,
    maxItems: 17,
    run: async (items) => {
      assert.ok(items.length <= 17);
      most = Math.max(most, ++running);
      await sleep(1);
      running--;
      return items.map((item) => -item);
    },
  });
  const outcomes = await Promise.all(
    numbers(1, 1_000).map(async (item) => {
      if (item % 3 === 0) await turn();
      return batcher.add(item);
    }),
  );
  assert.deepEqual(
    outcomes,
    numbers(1, 1_000).map((item) => -item),
  );
  assert.equal(most, 3);
});

test('a late batch takes what has come by the time that it is ready, if it fits', async () => {
  const batches: (readonly number[])[] = [];
  const ready = Promise.withResolvers<void>();
  const batcher = createLateBatcher<number, number>({
    ...{ maxInFlight: 1, maxItems: 4 },
    run: async (draw) => {
      const isOdd = draw.waiting().some((item) => item % 2 === 1);
      await ready.promise;
      const items = draw.take((item) => (item % 2 === 1) === isOdd);
      batches.push(items);
      return items.map((item) => item * 10);
    },
  });
  const first = batcher.add(1);
  await turn();
  const rest = numbers(2, 8).map((item) => batcher.add(item));
  ready.resolve();
  assert.deepEqual(
    await Promise.all([first, ...rest]),
    numbers(1, 9).map((item) => item * 10),
  );
  assert.deepEqual(batches, [[1, 3, 5, 7], [2, 4, 6, 8], [9]]);
});

test('who comes while a late batch waits in vain has a try of their own', async () => {
  const away = Promise.withResolvers<never>();
  const runs = [() => away.promise, () => Promise.resolve()];
  const batcher = createLateBatcher<number, number>({
    ...{ maxInFlight: 1, maxItems: 4 },
    run: async (draw) => {
      await runs.shift()?.();
      return draw.take(() => true);
    },
  });
  const refused = assert.rejects(batcher.add(1), DatabaseUnavailable);
  await turn();
  const later = batcher.add(2);
  away.reject(new DatabaseUnavailable('away'));
  await refused;
  assert.equal(await later, 2);
});

test('a late batch that fails before it takes anything fails for those that wait', async () => {
  const faults = [new DatabaseUnavailable('away'), new Error('refused')];
  const batches: (readonly number[])[] = [];
  const batcher = createLateBatcher<number, number>({
    ...{ maxInFlight: 1, maxItems: 2 },
    run: async (draw) => {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      const items = draw.take((item) => item !== 4);
      batches.push(items);
      return items;
    },
  });
  const outcomes = await Promise.allSettled(numbers(1, 5).map((item) => batcher.add(item)));
  const said = outcomes.map((one) => (one.status === 'rejected' ? one.reason : one.value));
  assert.ok(said.slice(0, 2).every((one) => one instanceof DatabaseUnavailable));
  // The next two are tried alone; of these, one is never taken.
  assert.deepEqual([said[2], said[4]], [3, 5]);
  assert.ok(said[3] instanceof Bug);
  assert.deepEqual(batches, [[3], [], [5]]);
});
