import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { linePrice } from '#prices/sale-lines.ts';
import {
  addItem,
  type Cart,
  cartTotal,
  changeLine,
  discountSale,
  linesTotal,
  MOST_LINES,
  pieces,
  readQuantity,
} from './cart.ts';

const COFFEE = {
  id: 'item_1',
  name: 'Flat white',
  unit_amount: 250,
  tax_rate: 700,
  tax_inclusive: true,
};
const CAKE = { ...COFFEE, id: 'item_2', name: 'Cake', unit_amount: 420, tax_rate: 1_900 };

const filled = (...items: readonly (typeof COFFEE)[]): Cart =>
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
  const weighed = changeLine(filled(COFFEE), 'item_1', { quantity: '0.350' });
  assert.ok(weighed !== null);
  assert.equal(cartTotal(weighed), 88n);
  assert.equal(addItem(weighed, COFFEE, 'eur').lines[0]?.quantity, '1.350');
});

test('a sale has no more lines than the service accepts', () => {
  const items = Array.from({ length: MOST_LINES + 5 }, (_, n) => ({ ...CAKE, id: `item_${n}` }));
  assert.equal(filled(...items).lines.length, MOST_LINES);
});

test('no sequence of changes makes a discount exceed what it reduces', () => {
  const change = fc.oneof(
    fc.record({ discount: fc.nat(5_000) }),
    fc.record({ quantity: fc.integer({ min: 1, max: 5 }) }),
    fc.constant(null),
  );
  const steps = fc.array(fc.oneof(fc.nat(3_000), fc.constantFrom(COFFEE, CAKE), change));
  fc.assert(
    fc.property(steps, (all) => {
      let cart: Cart | null = filled(COFFEE, CAKE);
      for (const step of all) {
        if (typeof step === 'number') cart = cart && discountSale(cart, step);
        else if (step !== null && 'id' in step) cart = addItem(cart, step, 'eur');
        else cart = cart && changeLine(cart, 'item_1', step);
        if (cart === null) continue;
        assert.ok(cart.lines.every((line) => linePrice(line) >= 0n));
        assert.ok(BigInt(cart.discount) <= linesTotal(cart));
        assert.equal(cartTotal(cart), linesTotal(cart) - BigInt(cart.discount));
      }
    }),
  );
});
