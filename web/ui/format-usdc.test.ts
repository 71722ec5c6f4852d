import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_ATOMS, typedUsdc } from './format-usdc.ts';
import { readSum, sumIn } from './typed-sum.ts';

test('an amount that people type is never rounded', () => {
  const shown: readonly (readonly [bigint, string])[] = [
    [0n, '0.00 USDC'],
    [1n, '0.000001 USDC'],
    [2_500_000n, '2.50 USDC'],
    [2_005_000n, '2.005000 USDC'],
    [MAX_ATOMS, '1,000,000.00 USDC'],
  ];
  for (const [atoms, text] of shown) assert.equal(typedUsdc(atoms), text);
});

test('a displayed amount can be typed back', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: MAX_ATOMS }),
      fc.constantFrom(1n, 10n, 100n, 1_000n, 10_000n),
      (atoms, unit) => {
        const shown = atoms % unit === 0n ? atoms : atoms * unit;
        assert.equal(sumIn(readSum(typedUsdc(shown).replace(' USDC', ''))), shown);
      },
    ),
  );
});
