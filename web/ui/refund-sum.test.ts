import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roundAtoms } from './money.ts';
import { readRefund } from './refund-sum.ts';
import { writeSum } from './typed-sum.ts';

test('the rest as people see it is all of the rest, above and below it', () => {
  for (const left of [2_005_001n, 2_004_999n, 2_000_000n, 2_014_999n]) {
    const { atoms, crumb } = readRefund(roundAtoms(left), { left, wrote: 1n });
    assert.deepEqual([atoms, crumb], [left, null]);
  }
});

test('every other sum is exact, and no more than the rest', () => {
  const left = 2_005_001n;
  const given: readonly (readonly [string, bigint | null])[] = [
    ['2.00', 2_000_000n],
    ['2.005001', left],
    ['2.005002', null],
    ['2.02', null],
    ['0.000001', 1n],
  ];
  for (const [text, atoms] of given) {
    assert.equal(readRefund(text, { left, wrote: left }).atoms, atoms, text);
  }
});

test('what the form wrote is exact, even if it looks like the rest', () => {
  const [left, wrote] = [2_000_001n, 2_000_000n];
  const read = readRefund(writeSum(wrote), { left, wrote });
  assert.deepEqual([read.atoms, read.crumb], [wrote, 1n]);
});

test('a rest of less than 0.01 is offered; one that can be typed is not', () => {
  const crumbs: readonly (readonly [bigint, string, bigint | null])[] = [
    [2_005_001n, '2', 5_001n],
    [2_009_999n, '2', 9_999n],
    [2_010_000n, '2', null],
    [2_005_001n, '1.99', null],
    [2_005_001n, '2.01', null],
  ];
  for (const [left, text, crumb] of crumbs) {
    assert.equal(readRefund(text, { left, wrote: left }).crumb, crumb, text);
  }
});
