import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Bug } from '#core/assert.ts';
import {
  add,
  atoms,
  basisPoints,
  MAX_AMOUNT,
  MIN_AMOUNT,
  subtract,
  toJsonAtoms,
  ZERO,
} from '#core/money.ts';

test('one intent or refund is 1 to 1000000000000 atoms', () => {
  assert.deepEqual([MIN_AMOUNT, MAX_AMOUNT], [1, 1_000_000_000_000]);
});

test('fractions, negative amounts and inexact numbers never become atoms', () => {
  const wrong = [0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER + 1, -1n];
  for (const value of wrong) assert.throws(() => atoms(value), Bug, String(value));
  assert.equal(atoms(2_500_000), 2_500_000n);
  assert.equal(atoms(0), ZERO);
});

test('a subtraction below zero is a bug, not a debt', () => {
  assert.equal(subtract(atoms(5), atoms(5)), 0n);
  assert.throws(() => subtract(atoms(5), atoms(6)), Bug);
});

test('sums are exact far beyond what a floating point number holds', () => {
  const large = 2n ** 53n;
  assert.equal(add(atoms(large), atoms(1), atoms(1)), large + 2n);
  assert.equal(add(), 0n);
});

test('basis points are rounded down to whole atoms', () => {
  assert.equal(basisPoints(atoms(2_500_000), 30), 7_500n);
  assert.equal(basisPoints(atoms(333), 30), 0n);
  assert.equal(basisPoints(atoms(334), 30), 1n);
  assert.equal(basisPoints(atoms(666), 30), 1n);
  assert.equal(basisPoints(atoms(7), 10_000), 7n);
});

test('rates outside 0 to 10000 basis points are refused', () => {
  for (const points of [-1, 10_001, 0.5, Number.NaN]) {
    assert.throws(() => basisPoints(atoms(100), points), Bug, String(points));
  }
});

test('a fee is never more than its exact share, and less than an atom below it', () => {
  const amounts = fc.bigInt({ min: 1n, max: BigInt(MAX_AMOUNT) });
  const rates = fc.integer({ min: 0, max: 10_000 });
  fc.assert(
    fc.property(amounts, rates, (amount, points) => {
      const fee = basisPoints(atoms(amount), points);
      const exact = amount * BigInt(points);
      assert.ok(fee * 10_000n <= exact && exact < (fee + 1n) * 10_000n);
    }),
  );
});

test('an integer that JSON cannot hold exactly is never sent', () => {
  const largest = BigInt(Number.MAX_SAFE_INTEGER);
  assert.equal(toJsonAtoms(largest), Number.MAX_SAFE_INTEGER);
  assert.throws(() => toJsonAtoms(largest + 1n), Bug);
  assert.throws(() => toJsonAtoms(-1n), Bug);
});
