import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { afterPart, equalParts, MOST_PARTS, nextPart, type Split } from './split-bill.ts';

test('equal parts add up to the bill and differ by a cent at most', () => {
  const cents = fc.bigInt({ min: 1n, max: 100_000_000n }).map((value) => value * 10_000n);
  const count = fc.integer({ min: 2, max: MOST_PARTS });
  fc.assert(
    fc.property(cents, count, (total, parts) => {
      const amounts = equalParts(total, parts);
      assert.equal(
        amounts.reduce((sum, amount) => sum + amount, 0n),
        total,
      );
      assert.equal(amounts.length, parts);
      const [first = 0n] = amounts;
      assert.ok(first - (amounts.at(-1) ?? 0n) <= 10_000n);
    }),
  );
});

test('a bill ends when all of it is paid, in whatever amounts', () => {
  const split: Split = {
    group: 'table-7',
    currency: null,
    total: 10_000_000n,
    paid: 0n,
    parts: equalParts(10_000_000n, 3),
    paidParts: 0,
  };
  assert.equal(nextPart(split), 3_340_000n);
  const second = afterPart(split, 3_340_000n);
  assert.ok(second !== null);
  assert.equal(nextPart(second), 3_330_000n);
  const other = afterPart(second, 1_000_000n);
  assert.ok(other !== null);
  assert.equal(nextPart(other), 5_660_000n, 'what is left');
  assert.equal(afterPart(other, 5_660_000n), null);
});
