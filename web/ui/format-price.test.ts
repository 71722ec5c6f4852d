import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatMoney, formatPrice, sumRules } from './format-price.ts';
import { paidPrice, paidTip, priceOf, sharePrice } from './quoted-price.ts';
import { atomsOfPrice, tipPrice, tippedPrice } from './tip-price.ts';
import { readSum, sumIn, writeSum } from './typed-sum.ts';

const BLANK = /\u00a0/g;

test('a price has the decimals of its currency', () => {
  const shown = (currency: string, units: bigint) =>
    formatPrice({ currency, units }).replace(BLANK, ' ');
  assert.equal(shown('eur', 250n), '€2.50');
  assert.equal(shown('jpy', 250n), '¥250');
  assert.equal(shown('kwd', 250n), 'KWD 0.250');
  assert.equal(shown('brl', 123_456_789n), 'R$1,234,567.89');
  // Intl formats rupiah without cents, although ISO 4217 has them.
  assert.equal(shown('idr', 1050n), 'IDR 10.50');
  assert.equal(shown('eur', -5n), '−€0.05');
  assert.equal(formatMoney(2_500_000n, null), '2.50 USDC');
});

test('an amount shown in a currency can be typed in it', () => {
  const currencies = fc.constantFrom('eur', 'jpy', 'kwd', 'usd');
  fc.assert(
    fc.property(currencies, fc.bigInt({ min: 1n, max: 10n ** 14n }), (currency, units) => {
      const rules = sumRules(currency);
      assert.equal(sumIn(readSum(writeSum(units, rules), rules)), units);
    }),
  );
});

test('a tip uses the rate of its sale, and a partial refund is a share of its price', () => {
  const quoted = { currency: 'eur', amount: 250, rate: '1.085' };
  const tip = atomsOfPrice(25n, quoted);
  assert.equal(tip, 271_250n);
  assert.deepEqual(tipPrice(quoted, tip), { currency: 'eur', units: 25n });
  assert.deepEqual(tippedPrice(quoted, tip), { currency: 'eur', units: 275n });
  assert.deepEqual(priceOf(quoted), { currency: 'eur', units: 250n });
  assert.equal(tippedPrice(null, tip), null);
  const payment = { amount: 2_983_750, presentment: { ...quoted, tip_amount: 25 } };
  assert.deepEqual(paidPrice(payment.presentment), { currency: 'eur', units: 275n });
  assert.deepEqual(paidTip(payment.presentment), { currency: 'eur', units: 25n });
  assert.deepEqual(sharePrice(payment, 1_085_000n), { currency: 'eur', units: 100n });
  assert.deepEqual(sharePrice(payment, 2_983_750n), { currency: 'eur', units: 275n });
  assert.equal(sharePrice({ amount: 5, presentment: null }, 5n), null);
});
