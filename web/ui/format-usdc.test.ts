import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatAtoms, MAX_ATOMS, roundAtoms } from './format-usdc.ts';
import { readSum, sumIn } from './typed-sum.ts';

test('an amount has two decimals, and more only if they are not zero', () => {
  const shown: readonly (readonly [bigint, string])[] = [
    [0n, '0.00'],
    [1n, '0.000001'],
    [2_500_000n, '2.50'],
    [2_512_345n, '2.512345'],
    [2_005_000n, '2.0050'],
    [125_000n, '0.125'],
    [-1_250_000n, '−1.25'],
    [MAX_ATOMS, '1,000,000.00'],
  ];
  for (const [atoms, text] of shown) assert.equal(formatAtoms(atoms), text);
});

test('a headline has two decimals, and less than half a cent is not shown as 0', () => {
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

test('a displayed amount can be typed back', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: MAX_ATOMS }),
      fc.constantFrom(1n, 10n, 100n, 1_000n, 10_000n),
      (atoms, unit) => {
        const shown = atoms % unit === 0n ? atoms : atoms * unit;
        assert.equal(sumIn(readSum(formatAtoms(shown))), shown);
      },
    ),
  );
});
