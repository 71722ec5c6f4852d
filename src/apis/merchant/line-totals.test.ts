import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lineRows, sumDiscounts, sumTaxes } from '#apis/merchant/line-totals.ts';

const line = (unit_amount: number, tax_rate: number, discount = 0) => ({
  ...{ name: 'Flat white', quantity: 1, unit_amount, tax_rate, tax_inclusive: true, discount },
});

test('stored taxes add up by currency and rate, and discounts by currency', () => {
  const sold = [
    {
      currency: 'eur',
      lines: { lineItems: [line(250, 1_300), line(100, 0)], discount: 0 },
      taxes: null,
      count: 3,
    },
    {
      ...{ currency: 'eur', lines: { lineItems: [line(250, 1_300, 50)], discount: 20 }, count: 1 },
      // As another release computed them: what is stored counts.
      taxes: [{ rate: 1_300, net: 160, tax: 20, gross: 180 }],
    },
    {
      ...{ currency: null, lines: { lineItems: [line(2_500_000, 700)], discount: 0 }, count: 1 },
      taxes: null,
    },
  ];
  assert.deepEqual(sumTaxes(sold), [
    { currency: null, rate: 700, net: 2_336_449, tax: 163_551, gross: 2_500_000 },
    { currency: 'eur', rate: 0, net: 300, tax: 0, gross: 300 },
    { currency: 'eur', rate: 1_300, net: 3 * 221 + 160, tax: 3 * 29 + 20, gross: 930 },
  ]);
  assert.deepEqual(sumDiscounts(sold), [{ currency: 'eur', amount: 70 }]);
  const file = {
    presentment: [{ currency: 'eur', sales: 1_230, tips: 0, refunded: 113 }],
    sold,
    refundedTaxes: [{ currency: 'eur', rate: 1_300, net: 100, tax: 13, gross: 113 }],
    paidOut: { count: 2, amount: 40_000_000n },
  };
  assert.deepEqual(
    lineRows(file).map(({ label }) => label),
    ['Sales', 'Tax', 'Tax', 'Tax', 'Refunded tax', 'Discounts', 'Payouts'],
  );
  const nothing = {
    presentment: [],
    sold: [],
    refundedTaxes: [],
    paidOut: { count: 0, amount: 0n },
  };
  assert.deepEqual(lineRows(nothing), []);
});
