import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { present } from '#core/assert.ts';
import { linePrice } from '#prices/sale-lines.ts';
import {
  addItem,
  type Cart,
  cartTotal,
  changeLine,
  type Discount,
  discountOfLine,
  discountSale,
  linesTotal,
  MOST_LINES,
  mostOff,
  pieces,
  readQuantity,
  type Sellable,
  saleOf,
  withOptions,
} from './cart.ts';

const COFFEE = {
  id: 'item_1',
  name: 'Flat white',
  unit_amount: 250,
  tax_rate: 700,
  tax_inclusive: true,
};
const CAKE = { ...COFFEE, id: 'item_2', name: 'Cake', unit_amount: 420, tax_rate: 1_900 };

const sum = (sum: number): Discount => ({ sum, rate: null, name: null });
const firstOf = ({ lines: [line] }: Cart) => line ?? assert.fail('no line');

const filled = (...items: readonly Sellable[]): Cart =>
  items.reduce<Cart | null>((cart, item) => addItem(cart, item, 'eur'), null) ??
  assert.fail('no cart');

test('the same item twice is one line of two', () => {
  const cart = filled(COFFEE, CAKE, COFFEE);
  assert.deepEqual(
    cart.lines.map(({ name, quantity }) => [name, quantity]),
    [
      ['Flat white', 2],
      ['Cake', 1],
    ],
  );
  assert.deepEqual([cartTotal(cart), pieces(cart)], [920n, 3]);
});

test('a cart starts over in another currency', () => {
  const cart = addItem(filled(COFFEE), CAKE, 'jpy');
  assert.deepEqual([cart.currency, cart.lines.length], ['jpy', 1]);
});

test('tax on top of a price is part of the total', () => {
  assert.equal(cartTotal(filled({ ...COFFEE, tax_inclusive: false })), 268n);
});

test('a weighed item has up to three decimals, and the plus button adds a whole unit', () => {
  assert.deepEqual(['0,350', '2', ' 1.5 '].map(readQuantity), ['0.350', '2', '1.5']);
  assert.deepEqual(['0', '0.000', '-1', '1.0005', 'x', ''].map(readQuantity), Array(6).fill(null));
  const weighed = changeLine(filled(COFFEE), firstOf(filled(COFFEE)), { quantity: '0.350' });
  assert.ok(weighed !== null);
  assert.equal(cartTotal(weighed), 88n);
  assert.equal(addItem(weighed, COFFEE, 'eur').lines[0]?.quantity, '1.350');
});

test('a sale has no more lines than the service accepts', () => {
  const items = Array.from({ length: MOST_LINES + 5 }, (_, n) => ({ ...CAKE, id: `item_${n}` }));
  assert.equal(filled(...items).lines.length, MOST_LINES);
});

test('a discount in percent stays one when the cart changes', () => {
  const rate = { sum: 0, rate: 1_000, name: 'Regulars' };
  const before = discountSale(filled({ ...COFFEE, unit_amount: 1_910 }), rate);
  assert.equal(before.discount, 191);
  const after = addItem(before, { ...CAKE, unit_amount: 550 }, 'eur');
  assert.equal(after.discount, 246);
  const { discountRate, discountName } = saleOf(after);
  assert.deepEqual([discountRate, discountName], [1_000, 'Regulars']);
  const change = { quantity: 3, ...discountOfLine(rate) };
  const line = firstOf(present(changeLine(after, firstOf(after), change), 'cart'));
  assert.deepEqual(
    [line.discount, line.discount_rate, line.discount_name],
    [573, 1_000, 'Regulars'],
  );
});

test('a discount is taken from lines above 0 alone', () => {
  const cart = filled({ ...COFFEE, unit_amount: 1_910 }, { ...CAKE, unit_amount: -250 });
  const less = discountSale(cart, sum(5_000));
  assert.deepEqual([less.discount, mostOff(cart)], [1_910, 1_910n]);
  const deposit = present(cart.lines[1], 'line');
  const more = present(changeLine(cart, deposit, { quantity: 2, discount: 7 }), 'cart');
  assert.deepEqual([more.lines[1]?.discount, cartTotal(more)], [0, 1_410n]);
});

test('an item with options is a line of its own, with their prices and names', () => {
  const [oat, shot] = [
    { name: 'oat', unit_amount: 50 },
    { name: 'extra shot', unit_amount: 80 },
  ];
  const items = [[], [oat], [oat, shot], [oat]].map((options) => withOptions(COFFEE, options));
  assert.deepEqual(
    filled(...items).lines.map(({ item, name, quantity, unit_amount }) => [
      ...[item, name, quantity, unit_amount],
    ]),
    [
      ['item_1', 'Flat white', 1, 250],
      ['item_1', 'Flat white, oat', 2, 300],
      ['item_1', 'Flat white, oat, extra shot', 1, 380],
    ],
  );
  const long = withOptions({ ...COFFEE, name: '☕'.repeat(200) }, [oat]);
  assert.equal([...long.name].length, 200);
});

test('no sequence of changes makes a discount exceed what it reduces', () => {
  const change = fc.oneof(
    fc.record({ discount: fc.nat(5_000) }),
    fc.record({ discount_rate: fc.integer({ min: 1, max: 10_000 }) }),
    fc.record({ quantity: fc.integer({ min: 1, max: 5 }) }),
    fc.constant(null),
  );
  const steps = fc.array(fc.oneof(fc.nat(3_000), fc.constantFrom(COFFEE, CAKE), change));
  fc.assert(
    fc.property(steps, (all) => {
      let cart: Cart | null = filled(COFFEE, CAKE);
      for (const step of all) {
        if (typeof step === 'number') cart = cart && discountSale(cart, sum(step));
        else if (step !== null && 'id' in step) cart = addItem(cart, step, 'eur');
        else cart = cart && changeLine(cart, firstOf(cart), step);
        if (cart === null) continue;
        assert.ok(cart.lines.every((line) => linePrice(line) >= 0n));
        assert.ok(BigInt(cart.discount) <= linesTotal(cart));
        assert.equal(cartTotal(cart), linesTotal(cart) - BigInt(cart.discount));
      }
    }),
  );
});
