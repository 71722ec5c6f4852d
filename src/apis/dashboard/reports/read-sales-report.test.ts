import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TallyCache } from '#apis/dashboard/reports/read-sales-report.ts';
import { emptyTally } from '#apis/dashboard/reports/sales-tally.ts';

test('kept results have a limit on their rows, and the oldest are dropped first', async () => {
  const cache = new TallyCache(10);
  let counts = 0;
  const read = (key: string, mark: string) =>
    cache.get(key, mark, async () => {
      counts++;
      const tally = emptyTally();
      for (const row of ['a', 'b', 'c']) tally.rows.set(row, {} as never);
      return tally;
    });
  for (const key of ['one', 'two', 'one', 'two']) await read(key, 'mark');
  assert.equal(counts, 2, 'each was counted once');
  await read('two', 'other mark');
  assert.equal(counts, 3, 'another mark is counted');
  await read('three', 'mark');
  await read('two', 'other mark');
  assert.equal(counts, 4, 'the newest two are kept');
  await read('one', 'mark');
  assert.equal(counts, 5, 'the oldest was dropped');
  await assert.rejects(cache.get('four', 'mark', () => Promise.reject(new Error('no database'))));
  await read('four', 'mark');
  assert.equal(counts, 6, 'a failure is not kept');
});
