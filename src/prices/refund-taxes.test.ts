import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { leftAfter, taxesOfSum } from '#prices/refund-taxes.ts';
import {
  type LineItem,
  linePrice,
  type SaleLines,
  salePrice,
  taxTable,
} from '#prices/sale-lines.ts';

const line = (unit_amount: number, tax_rate: number): LineItem => {
  return { name: 'x', quantity: 1, unit_amount, tax_rate, tax_inclusive: true, discount: 0 };
};

/**
 * Returns the tax tables of these refunds of one sale. The last refund returns everything that is
 * left.
 */
function tablesOf(sale: SaleLines, whole: bigint, parts: readonly bigint[]) {
  return parts.map((part, index) => {
    const before = parts.slice(0, index).map((amount) => ({ amount, taxes: null }));
    return taxesOfSum(leftAfter(taxTable(sale), whole, before), part);
  });
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

test('one refund of everything has the taxes of the sale', () => {
  const sale = { lineItems: [line(250, 1300), line(400, 0)], discount: 0 };
  assert.deepEqual(tablesOf(sale, 650n, [650n]), [taxTable(sale)]);
});

test('a part takes from each rate in proportion, and the last part what is left', () => {
  const sale = { lineItems: [line(1_000, 700), line(500, 1900)], discount: 0 };
  // 7 % included in 1,000 is 65; 19 % included in 500 is 80.
  assert.deepEqual(tablesOf(sale, 1_500n, [500n, 1_000n]), [
    [
      { rate: 700, net: 311, tax: 22, gross: 333 },
      { rate: 1900, net: 140, tax: 27, gross: 167 },
    ],
    [
      { rate: 700, net: 624, tax: 43, gross: 667 },
      { rate: 1900, net: 280, tax: 53, gross: 333 },
    ],
  ]);
});

test('a tip has no tax: its share of a refund is in no rate', () => {
  const sale = { lineItems: [line(1_000, 1900)], discount: 0 };
  const [half] = tablesOf(sale, 1_200n, [600n, 600n]);
  assert.deepEqual(half, [{ rate: 1900, net: 420, tax: 80, gross: 500 }]);
});

test('a refund of a sale that charged only a tip returns no tax', () => {
  const sale = { lineItems: [line(0, 1900)], discount: 0 };
  assert.deepEqual(tablesOf(sale, 10n, [4n, 6n]).flat(), [
    { rate: 1900, net: 0, tax: 0, gross: 0 },
    { rate: 1900, net: 0, tax: 0, gross: 0 },
  ]);
});

const LINE = fc
  .record({
    unit_amount: fc.integer({ min: 0, max: 1_000_000 }),
    tax_rate: fc.constantFrom(0, 260, 700, 1300, 1900, 2300, 10_000),
    tax_inclusive: fc.boolean(),
    quantity: fc.integer({ min: 1, max: 9 }),
    share: fc.integer({ min: 0, max: 4 }),
  })
  .map(({ share, ...rest }): LineItem => {
    const whole = { name: 'x', ...rest, discount: 0 };
    return { ...whole, discount: Math.floor((Number(linePrice(whole)) * share) / 4) };
  });

/** Refunds per random sale. The long run has more sales (test/long/budgets.test.ts). */
const PARTS = 20;
const SALES = Number(process.env.REFUNDED_SALES ?? 500);

test(`${SALES * PARTS} parts: each rate adds up to the sale, each part to its sum`, () => {
  const cut = fc.double({ min: 0, max: 1, noNaN: true });
  const sales = fc.record({
    lineItems: fc.array(LINE, { minLength: 1, maxLength: 8 }),
    tip: fc.integer({ min: 0, max: 100_000 }),
    cuts: fc.array(cut, { minLength: PARTS - 1, maxLength: PARTS - 1 }),
  });
  fc.assert(
    fc.property(sales, ({ lineItems, tip, cuts }) => {
      const sale = { lineItems, discount: 0 };
      const price = Number(salePrice(sale));
      const whole = price + tip;
      const ends = cuts.map((cut) => Math.floor(cut * whole)).sort((one, other) => one - other);
      const parts = [...ends, whole].map((end, at) => BigInt(end - (ends[at - 1] ?? 0)));
      const tables = tablesOf(sale, BigInt(whole), parts);
      taxTable(sale).forEach((row, at) => {
        for (const field of ['net', 'tax', 'gross'] as const) {
          const given = tables.map((table) => table[at]?.[field] ?? Number.NaN);
          assert.ok(given.every((value) => value >= 0));
          assert.equal(sumOf(given), row[field]);
        }
      });
      tables.forEach((table, at) => {
        const gross = sumOf(table.map((row) => row.gross));
        const part = Number(parts[at]);
        // Without a tip, a refund's rows add up to exactly the refund; otherwise the difference is
        // the tip's share.
        assert.ok(tip === 0 ? gross === part : gross <= part);
        for (const row of table) assert.equal(row.net + row.tax, row.gross);
      });
      const tips = parts.map((part, at) => {
        return Number(part) - sumOf((tables[at] ?? []).map((row) => row.gross));
      });
      assert.equal(sumOf(tips), tip);
    }),
    { numRuns: SALES },
  );
});
