import assert from 'node:assert/strict';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { type AskedDiscount, type AskedLine, readLines } from '#prices/check-asked-lines.ts';
import { salePrice } from '#prices/sale-lines.ts';

const SETTINGS = { tax_rates: [], prices_include_tax: true };
const CONTEXT = {
  settings: SETTINGS,
  findItem: (id: string) => (id === 'item_1' ? { category: 'Cakes' } : undefined),
};

const line = (unit_amount: number, more: Partial<AskedLine> = {}): AskedLine => {
  return { name: 'x', quantity: 1, unit_amount, tax_rate: 0, ...more };
};

/** Reads a sale, trying prices until one fits. */
function read(lineItems: readonly AskedLine[], price: number, discount: AskedDiscount = 0) {
  return readLines({ lineItems, discount }, CONTEXT, price);
}

function discountOf(lineItems: readonly AskedLine[], price: number, rate: number): number {
  const sale = read(lineItems, price, { rate });
  assert.ok(!('refused' in sale), JSON.stringify(sale));
  assert.equal(sale.discountRate, rate);
  assert.equal(Number(salePrice(sale)), price);
  return sale.discount;
}

test('a discount by rate is of the lines above 0 after their own discounts, half up', () => {
  assert.equal(discountOf([line(1_910)], 1_719, 1_000), 191);
  assert.equal(discountOf([line(1_910), line(550)], 2_214, 1_000), 246);
  assert.equal(discountOf([line(333, { quantity: 3 })], 899, 1_000), 100);
  assert.equal(discountOf([line(1_255)], 1_161, 750), 94);
  assert.equal(discountOf([line(1_910), line(-250)], 1_469, 1_000), 191);
  assert.equal(discountOf([line(1_000, { discount: 100 }), line(100)], 900, 1_000), 100);
});

test('a line keeps its discount by rate, its names, its item and the category of the item', () => {
  const request = { discount: { rate: 1_000 }, discount_name: 'Happy hour', item: 'item_1' };
  const sale = read([line(1_255, request)], 1_129);
  assert.ok(!('refused' in sale));
  const { discount, discount_rate, discount_name, item, category } = present(
    sale.lineItems[0],
    'line',
  );
  assert.deepEqual([discount, discount_rate, discount_name], [126, 1_000, 'Happy hour']);
  assert.deepEqual([item, category], ['item_1', 'Cakes']);
  const named = readLines(
    { lineItems: [line(100)], discount: 10, discountName: 'Staff' },
    CONTEXT,
    90,
  );
  assert.ok(!('refused' in named) && named.discountName === 'Staff');
});

test('a discount above its lines, on a line below 0, or an unknown item is refused', () => {
  const params = [
    read([line(100, { discount: 101 })], 1),
    read([line(100), line(-50, { discount: 1 })], 49),
    read([line(100), line(-50, { discount: { rate: 100 } })], 50),
    read([line(100), line(-50)], 1, 101),
    read([line(100, { item: 'item_2' })], 100),
    read([line(100)], 99),
  ].map((refused) => 'refused' in refused && [refused.code, refused.param]);
  const invalid = (param: string) => ['parameter_invalid', param];
  assert.deepEqual(params, [
    invalid('line_items.0.discount'),
    invalid('line_items.1.discount'),
    invalid('line_items.1.discount'),
    invalid('discount'),
    invalid('line_items.0.item'),
    invalid('line_items'),
  ]);
});

test('prices that no JSON number holds are refused, even if they cancel each other out', () => {
  const huge = { quantity: 999_999_999_999 };
  const sales = [
    [line(10 ** 15, { discount: { rate: 10_000 } }), line(1)],
    [line(10 ** 15), line(-(10 ** 15)), line(1)],
    [line(10 ** 15, huge), line(-(10 ** 15), huge), line(1)],
    [line(10 ** 15 / 2 + 1), line(-(10 ** 15) / 2)],
  ];
  for (const lines of sales) {
    const refused = read(lines, 1);
    assert.ok('refused' in refused && refused.param === 'line_items', JSON.stringify(refused));
  }
  assert.ok(!('refused' in read([line(10 ** 15 / 2), line(-(10 ** 15) / 2 + 1)], 1)));
});
