import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fullPrice,
  type LineItem,
  linePrice,
  lineValues,
  salePrice,
  taxTable,
} from '#prices/sale-lines.ts';
import { createRandom } from '#testkit/fixtures/core/random.ts';

function line(change: Partial<LineItem>): LineItem {
  const coffee = { name: 'Coffee', quantity: 1, unit_amount: 250 };
  return { ...coffee, tax_rate: 0, tax_inclusive: true, discount: 0, ...change };
}

test('a line is quantity × unit price, rounded half up', () => {
  const prices = [
    fullPrice({ quantity: 3, unit_amount: 250 }),
    fullPrice({ quantity: '0.350', unit_amount: 1_290 }), // 451.5
    fullPrice({ quantity: '0.35', unit_amount: 1_289 }), // 451.15
    fullPrice({ quantity: '1.001', unit_amount: 499 }), // 499.499
    fullPrice({ quantity: '0.001', unit_amount: 499 }), // 0.499
    fullPrice({ quantity: '0.001', unit_amount: 500 }), // 0.5
  ];
  assert.deepEqual(prices, [750n, 452n, 451n, 499n, 0n, 1n]);
  assert.equal(linePrice(line({ quantity: '0.350', unit_amount: 1_290, discount: 52 })), 400n);
});

test('tax is rounded once per rate, not once per line', () => {
  // 7 % tax included in 10 is 0.65 per line: 3 if each line is rounded, 1.96 (so 2) on the sum.
  const within = [1, 2, 3].map(() => line({ unit_amount: 10, tax_rate: 700 }));
  assert.deepEqual(taxTable({ lineItems: within, discount: 0 }), [
    { rate: 700, net: 28, tax: 2, gross: 30 },
  ]);
  // 25 % tax added to 2 is 0.5 per line: 2 if each line is rounded, 1 on the sum.
  const top = [1, 2].map(() => line({ unit_amount: 2, tax_rate: 2_500, tax_inclusive: false }));
  const sale = { lineItems: top, discount: 0 };
  assert.deepEqual(taxTable(sale), [{ rate: 2_500, net: 4, tax: 1, gross: 5 }]);
  assert.equal(salePrice(sale), 5n);
});

test('a rate with tax included and added is one row, rounded separately; rate 0 has a row', () => {
  const lineItems = [
    line({ unit_amount: 1_000, tax_rate: 1_900 }), // 159.66 within
    line({ unit_amount: 1_003, tax_rate: 1_900, tax_inclusive: false }), // 190.57 on top
    line({ unit_amount: 40 }),
  ];
  assert.deepEqual(taxTable({ lineItems, discount: 0 }), [
    { rate: 0, net: 40, tax: 0, gross: 40 },
    { rate: 1_900, net: 840 + 1_003, tax: 160 + 191, gross: 1_000 + 1_194 },
  ]);
});

test("the sale's discount is spread in proportion, and the last line takes the rest", () => {
  const lineItems = [100, 100, 100].map((unit_amount, index) =>
    line({ unit_amount, tax_rate: index * 1_000 }),
  );
  const gross = taxTable({ lineItems, discount: 100 }).map((row) => row.gross);
  assert.deepEqual(gross, [67, 67, 66]);
});

test('a last line that is too small for the rest leaves it to the line before', () => {
  const lineItems = [1, 1, 1, 0].map((unit_amount, index) =>
    line({ unit_amount, tax_rate: index }),
  );
  const gross = taxTable({ lineItems, discount: 2 }).map((row) => row.gross);
  assert.deepEqual(gross, [1, 0, 0, 0]);
});

test('a discount may cover the whole sale', () => {
  const lineItems = [line({ unit_amount: 250, tax_rate: 700 }), line({ unit_amount: 0 })];
  assert.equal(salePrice({ lineItems, discount: 250 }), 0n);
  assert.equal(salePrice({ lineItems: [line({ unit_amount: 0 })], discount: 0 }), 0n);
});

const RATES = [0, 1, 250, 500, 700, 1_000, 1_900, 2_550, 10_000];

function randomCart(next: (below: number) => number) {
  const lineItems = Array.from({ length: 1 + next(8) }, () => {
    const quantity = next(3) === 0 ? `${next(9)}.${String(1 + next(999)).padStart(3, '0')}` : 1;
    const unit_amount = next(10) === 0 ? next(4) : next(20_000);
    const full = Number(fullPrice({ quantity, unit_amount }));
    const discount = next(3) === 0 ? next(full + 1) : 0;
    const tax_rate = RATES[next(RATES.length)] ?? 0;
    return line({ quantity, unit_amount, discount, tax_rate, tax_inclusive: next(2) === 0 });
  });
  const whole = lineItems.reduce((sum, item) => sum + Number(linePrice(item)), 0);
  return { lineItems, discount: next(2) === 0 ? next(whole + 1) : 0, whole };
}

/** Number of random carts. The long run uses more (test/long/budgets.test.ts). */
const CARTS = Number(process.env.TAXED_CARTS ?? 10_000);

test(`${CARTS} carts lose no minor unit, and each tax is the nearest to the exact one`, () => {
  const { below: next } = createRandom(20_261_128, 'carts');
  for (let cart = 0; cart < CARTS; cart++) {
    const { lineItems, discount, whole } = randomCart(next);
    const sale = { lineItems, discount };
    const rows = taxTable(sale);
    const total = (name: 'net' | 'tax' | 'gross') => rows.reduce((sum, row) => sum + row[name], 0);
    const told = JSON.stringify(sale);
    assert.equal(total('gross'), Number(salePrice(sale)), told);
    assert.equal(total('net') + total('tax'), total('gross'), told);
    assert.deepEqual(
      rows.map(({ rate }) => rate),
      [...new Set(lineItems.map(({ tax_rate }) => tax_rate))].sort((a, b) => a - b),
    );
    // If tax is added to all lines, the net amounts add up to the lines minus discounts.
    const onTop = lineItems.map((item) => ({ ...item, tax_inclusive: false }));
    assert.equal(
      taxTable({ lineItems: onTop, discount }).reduce((sum, { net }) => sum + net, 0),
      whole - discount,
    );
    const within = lineItems.map((item) => ({ ...item, tax_inclusive: true }));
    const inclusive = taxTable({ lineItems: within, discount });
    assert.equal(
      inclusive.reduce((sum, { gross }) => sum + gross, 0),
      whole - discount,
      told,
    );
    for (const { rate, net, tax, gross } of inclusive) {
      assert.ok(net >= 0 && tax >= 0, told);
      assert.ok(Math.abs(2 * (tax * (10_000 + rate) - gross * rate)) <= 10_000 + rate, told);
    }
  }
});

test('a line below 0 is taxed as if it were sold, rounded half away from zero', () => {
  const taxed = (unit_amount: number, tax_rate: number) =>
    taxTable({ lineItems: [line({ unit_amount, tax_rate })], discount: 0 });
  assert.deepEqual(taxed(-25, 1_900), [{ rate: 1_900, net: -21, tax: -4, gross: -25 }]);
  assert.deepEqual(taxed(-100, 1_000), [{ rate: 1_000, net: -91, tax: -9, gross: -100 }]);
  assert.equal(fullPrice({ quantity: '0.5', unit_amount: -25 }), -13n);
});

test('a discount is taken from the lines above 0 alone', () => {
  const lineItems = [line({ unit_amount: 1_910 }), line({ unit_amount: -250 })];
  const sale = { lineItems, discount: 166 };
  assert.deepEqual(lineValues(sale), [1_744n, -250n]);
  assert.equal(salePrice(sale), 1_494n);
});

test('the value of a line has its share of the tax on top, and the last line what is left', () => {
  const top = (unit_amount: number) => line({ unit_amount, tax_rate: 700, tax_inclusive: false });
  const sale = {
    lineItems: [top(333), line({ unit_amount: 50 }), top(333), top(334)],
    discount: 0,
  };
  // 7 % of 1,000 is 70: 23.31 through the first line, 46.62 through the second.
  assert.deepEqual(lineValues(sale), [333n + 23n, 50n, 333n + 23n, 334n + 24n]);
});
