import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { batchesOf } from './forward-offline-payments.ts';

const LIMIT_BYTES = 64 * 1024;

/** A record about as large as those that tills send, with this number of lines. */
const record = (lines: number) => ({
  authorization: 'a'.repeat(450),
  line_items: Array.from({ length: lines }, () => 'l'.repeat(104)),
});

const sizeOf = (payments: readonly unknown[]) =>
  new TextEncoder().encode(JSON.stringify({ payments })).length;

test('100 sales of 5 lines are divided into bodies that the service accepts', () => {
  const sales = Array.from({ length: 100 }, () => record(5));
  assert.ok(sizeOf(sales) > LIMIT_BYTES);
  const batches = batchesOf(sales, (one) => one);
  assert.deepEqual(batches.flat(), sales);
  for (const batch of batches) assert.ok(sizeOf(batch) < LIMIT_BYTES);
  // No more batches than necessary.
  assert.equal(batches.length, 2);
});

test('a batch has at most 100 records, and letters of several bytes count as such', () => {
  const lengths = (all: readonly unknown[]) => batchesOf(all, (one) => one).map((b) => b.length);
  assert.deepEqual(lengths(Array.from({ length: 201 }, () => 1)), [100, 100, 1]);
  assert.deepEqual(lengths([]), []);
  const words = fc.array(fc.string({ unit: 'grapheme', maxLength: 20_000 }), { maxLength: 20 });
  fc.assert(
    fc.property(words, (all) => {
      const batches = batchesOf(all, (one) => one);
      assert.deepEqual(batches.flat(), all);
      for (const batch of batches) assert.ok(batch.length === 1 || sizeOf(batch) < LIMIT_BYTES);
    }),
    { numRuns: 30 },
  );
});
