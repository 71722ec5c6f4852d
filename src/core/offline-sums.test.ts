import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addSums, countedSum, isAboveLimit, NO_SUM } from '#core/offline-sums.ts';

const EURO = { currency: 'eur', amount: 990, margin: 100 };

test('a sale counts in the currency of the limits, else in atoms without the margin', () => {
  const sale = { amount: 10_853_143n, presentment: EURO };
  assert.deepEqual(countedSum(sale, 'eur'), { units: 990n, atoms: 0n });
  // 10,853,143 × 10,000 ÷ 10,100, rounded down.
  const atoms = { units: 0n, atoms: 10_745_686n };
  assert.deepEqual(countedSum(sale, 'chf'), atoms);
  assert.deepEqual(countedSum(sale, null), atoms);
  assert.deepEqual(countedSum({ ...sale, presentment: null }, 'eur'), {
    units: 0n,
    atoms: 10_853_143n,
  });
});

test('a sum is above a limit by the unit in which the limit was set', () => {
  const most = { atoms: 21_708_455, units: 2_000 };
  assert.equal(isAboveLimit({ units: 2_000n, atoms: 0n }, most), false);
  assert.equal(isAboveLimit({ units: 2_001n, atoms: 0n }, most), true);
  assert.equal(isAboveLimit({ units: 0n, atoms: 21_708_455n }, most), false);
  assert.equal(isAboveLimit({ units: 0n, atoms: 21_708_456n }, most), true);
  const inAtoms = { atoms: 100, units: null };
  assert.equal(isAboveLimit({ units: 0n, atoms: 100n }, inAtoms), false);
  assert.equal(isAboveLimit({ units: 0n, atoms: 101n }, inAtoms), true);
});

test('sales in two currencies share one limit', () => {
  const most = { atoms: 20_000_000, units: 2_000 };
  const half = addSums(NO_SUM, { units: 1_000n, atoms: 0n });
  assert.equal(isAboveLimit(addSums(half, { units: 0n, atoms: 10_000_000n }), most), false);
  assert.equal(isAboveLimit(addSums(half, { units: 0n, atoms: 10_000_001n }), most), true);
});
