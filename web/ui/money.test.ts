import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatAtoms, MAX_ATOMS, parseAtoms, roundAtoms } from './money.ts';

test('an amount is shown with two decimals, and with more only where they say something', () => {
  const shown: readonly (readonly [bigint, string])[] = [
    [0n, '0.00'],
    [1n, '0.000001'],
    [2_500_000n, '2.50'],
    [2_512_345n, '2.512345'],
    [-1_250_000n, '−1.25'],
    [MAX_ATOMS, '1,000,000.00'],
  ];
  for (const [atoms, text] of shown) assert.equal(formatAtoms(atoms), text);
});

test('a headline has two decimals, and what is less than half a cent is not 0', () => {
  const shown: readonly (readonly [bigint, string])[] = [
    [0n, '0.00'],
    [1n, '< 0.01'],
    [4_999n, '< 0.01'],
    [5_000n, '0.01'],
    [6_780_375n, '6.78'],
    [2_995_000n, '3.00'],
    [-1_375n, '−< 0.01'],
    [-2_512_345n, '−2.51'],
    [MAX_ATOMS, '1,000,000.00'],
  ];
  for (const [atoms, text] of shown) assert.equal(roundAtoms(atoms), text);
});

test('what a cashier types is understood, or refused', () => {
  const typed: readonly (readonly [string, bigint | null])[] = [
    ['2.50', 2_500_000n],
    ['2,50', 2_500_000n],
    [' 12 ', 12_000_000n],
    ['.5', 500_000n],
    ['7.', 7_000_000n],
    ['1,000.00', 1_000_000_000n],
    ['1,000', 1_000_000_000n],
    ['0.0000001', null],
    ['', null],
    ['.', null],
    ['1.2.3', null],
    ['-1', null],
    ['1e3', null],
    ['two', null],
  ];
  for (const [text, atoms] of typed) assert.equal(parseAtoms(text), atoms, text);
});

test('what is shown is understood as the same amount', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: MAX_ATOMS }), (atoms) => {
      assert.equal(parseAtoms(formatAtoms(atoms)), atoms);
    }),
  );
});
