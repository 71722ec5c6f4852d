import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { Bug } from '#core/assert.ts';
import { createBatcher } from '#db/batching.ts';
import { CommitUnknown, DatabaseUnavailable } from '#db/database.ts';

/**
 * Returns a batcher whose batches wait until the test releases them. It records the items of each
 * batch.
 */
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

test('a lone item is sent at once, without waiting for others', async () => {
  const { batcher, batches, letGo } = gated({ maxInFlight: 1, maxItems: 10 });
  const outcome = batcher.add(1);
  await turn();
  assert.deepEqual(batches, [[1]]);
  await letGo();
  assert.equal(await outcome, 'done 1');
});

test('items that wait are sent together, in order, up to the limit', async () => {
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

test('no more than the allowed batches run at once', async () => {
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

test('one bad item fails alone; the rest of its batch runs again and succeeds', async () => {
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

test('an unreachable database fails the whole batch at once, after one attempt', async () => {
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

test('after a commit that may have happened no item is reported as not done', async () => {
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

test('with a gap, items that arrive soon after a batch wait, unless they fill one', async () => {
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
  // Timers may fire a millisecond early.
  assert.ok(second - first >= gapMs - 2);
  await Promise.all([4, 5, 6, 7].map((item) => batcher.add(item)));
  assert.deepEqual(batches.slice(2), [[4, 5, 6], [7]]);
  assert.ok(Number(starts[2]) - second < gapMs, 'a full batch does not wait');
});

test('an item without an outcome in its batch is a bug, not an endless wait', async () => {
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

test('items of one queue are never in two batches at once; others overtake them', async () => {
  const batches: string[][] = [];
  const gates: (() => void)[] = [];
  const batcher = createBatcher<string, string>({
    ...{ maxInFlight: 2, maxItems: 10 },
    queueOf: (item) => item.slice(0, 1),
    run: async (items) => {
      batches.push([...items]);
      await new Promise<void>((resolve) => gates.push(resolve));
      return items;
    },
  });
  const outcomes = [batcher.add('a1')];
  await turn();
  outcomes.push(batcher.add('a2'));
  await turn();
  outcomes.push(batcher.add('b1'), batcher.add('a3'), batcher.add('c1'));
  await turn();
  assert.deepEqual(batches, [['a1'], ['b1', 'c1']]);
  gates[0]?.();
  await turn();
  await turn();
  assert.deepEqual(batches.slice(2), [['a2', 'a3']]);
  for (const open of gates) open();
  assert.deepEqual(await Promise.all(outcomes), ['a1', 'a2', 'b1', 'a3', 'c1']);
});
