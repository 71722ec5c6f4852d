import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toMinorUnits } from '#core/currency-conversion.ts';
import { excess, limitFrom, reachesFrom, storedShopSum, unitsUp } from '#core/shop-limit.ts';

const EURO = { currency: 'eur', rate: '1.08542277217' };
const TWENTY = { atoms: 21_708_455n, inShop: { currency: 'eur', amount: 2_000 } };
const usdc = (atoms: bigint) => ({ atoms, inShop: null });

test('a sum in another currency is compared at the rate, rounded up', () => {
  assert.deepEqual([unitsUp(21_700_000n, EURO), unitsUp(21_710_000n, EURO)], [2_000n, 2_001n]);
  assert.equal(excess(TWENTY, usdc(21_700_000n), EURO.rate), 0n);
  assert.equal(excess(TWENTY, usdc(21_710_000n), EURO.rate), 1n);
  const yen = { atoms: 21_700_000n, inShop: { currency: 'jpy', amount: 3_306 } };
  assert.equal(excess(TWENTY, yen, EURO.rate), 0n);
  const dinars = { currency: 'kwd', rate: '3.255208333333' };
  assert.equal(unitsUp(3_255_209n, dinars), 1_001n);
});

test('a sum in the limit’s own currency needs no rate, and any other needs one', () => {
  const sale = (amount: number) => ({ atoms: 99_000_000n, inShop: { currency: 'eur', amount } });
  assert.deepEqual(
    [sale(2_000), sale(2_001)].map((sum) => excess(TWENTY, sum, null)),
    [0n, 1n],
  );
  assert.equal(excess(TWENTY, usdc(1n), null), null);
  assert.equal(excess({ atoms: 5n, inShop: null }, sale(1), null), 98_999_995n);
});

test('atoms that an older release has changed replace the sum in the shop’s currency', () => {
  const stored = storedShopSum(TWENTY);
  assert.deepEqual(limitFrom(21_708_455n, stored), TWENTY);
  assert.deepEqual(limitFrom(5n, stored), { atoms: 5n, inShop: null });
  assert.equal(storedShopSum({ atoms: 5n, inShop: null }), null);
});

const anyRate = fc.constantFrom('1.08542277217', '0.006563833279', '3.255208333333', '1');

test('a sale reaches a limit exactly from the computed amount on, with or without a tip', () => {
  fc.assert(
    fc.property(
      fc.record({
        limit: fc.integer({ min: 0, max: 20_000 }),
        price: fc.integer({ min: 1, max: 20_000 }),
        tip: fc.bigInt({ min: 0n, max: 200_000_000n }),
        rate: anyRate,
        currency: fc.constantFrom('eur', 'jpy', 'kwd'),
        isOwn: fc.boolean(),
      }),
      ({ limit, price, tip, rate, currency, isOwn }) => {
        const inShop = { currency, amount: limit };
        const amount = 5_000_000n;
        const presentment = { currency: isOwn ? currency : 'usd', amount: price, rate };
        const from = reachesFrom({ atoms: 0n, inShop }, { amount, presentment }, rate);
        const units = isOwn
          ? BigInt(price + toMinorUnits(tip, presentment))
          : unitsUp(amount + tip, { currency, rate });
        assert.equal(amount + tip >= from, units >= BigInt(limit));
      },
    ),
    { numRuns: 2_000 },
  );
});

test('without a usable rate, every sale in another currency reaches a limit', () => {
  assert.equal(reachesFrom(TWENTY, { amount: 1n, presentment: null }, null), 0n);
  assert.equal(
    reachesFrom({ atoms: 7n, inShop: null }, { amount: 1n, presentment: null }, null),
    7n,
  );
  const cheap = { amount: 1n, presentment: { currency: 'eur', amount: 1, rate: EURO.rate } };
  assert.ok(reachesFrom(TWENTY, cheap, null) > 1n);
});
