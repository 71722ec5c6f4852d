import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { thousandths } from '#prices/sale-lines.ts';
import { type Cart, type CartLine, cartTotal, withinPrices } from './cart.ts';
import { joinCarts, splitCart } from './split-cart.ts';

const LINE: CartLine = {
  item: 'item_1',
  name: 'Flat white',
  quantity: 2,
  unit_amount: 380,
  tax_rate: 700,
  tax_inclusive: true,
  discount: 0,
};
const CAKE: CartLine = { ...LINE, item: 'item_2', name: 'Cake', quantity: 1, unit_amount: 490 };

const cartOf = (...lines: readonly CartLine[]): Cart =>
  withinPrices({ currency: 'eur', lines, discount: 0 });

test('a split cart keeps a discount in percent in both parts, and divides one by sum', () => {
  const cart = cartOf(LINE, CAKE);
  const rated = splitCart({ ...cart, discount: 125, discountRate: 1_000 }, [1_000n, 0n]);
  assert.deepEqual(
    [rated?.part, rated?.rest].map((one) => [one?.discountRate, one?.discount]),
    [
      [1_000, 38],
      [1_000, 87],
    ],
  );
  const summed = splitCart({ ...cart, discount: 100 }, [1_000n, 0n]);
  assert.deepEqual([summed?.part.discount, summed?.rest.discount], [30, 70]);
  const line = splitCart(cartOf({ ...LINE, quantity: 3, discount: 100 }, CAKE), [1_000n]);
  assert.deepEqual(
    [line?.part, line?.rest].map((one) => one?.lines[0]?.discount),
    [33, 67],
  );
});

test('a cart is split only into two parts that both hold something', () => {
  const cart = cartOf(LINE, { ...CAKE, quantity: '0.350' });
  assert.equal(splitCart(cart, []), null);
  assert.equal(splitCart(cart, [2_000n, 350n]), null);
  const parts = splitCart(cart, [1_000n, 350n]);
  assert.deepEqual(
    [parts?.part, parts?.rest].map((one) => one?.lines.map(({ quantity }) => quantity)),
    [[1, '0.350'], [1]],
  );
});

test('the parts of a cart add up to it, and a part that is put back restores it', () => {
  const line = fc.record({
    quantity: fc.integer({ min: 1, max: 5 }),
    unit_amount: fc.integer({ min: 1, max: 2_000 }),
    discount: fc.nat(3_000),
    taken: fc.nat(5),
  });
  const sale = fc.record({ lines: fc.array(line, { minLength: 1, maxLength: 5 }), off: fc.nat() });
  fc.assert(
    fc.property(sale, ({ lines, off }) => {
      const all = lines.map((own, at) => ({ ...LINE, ...own, item: `item_${at}` }));
      const cart = withinPrices({ currency: 'eur', lines: all, discount: off });
      const chosen = lines.map(({ quantity, taken }) => {
        return BigInt(Math.min(quantity, taken)) * 1_000n;
      });
      const parts = splitCart(cart, chosen);
      if (parts === null) return;
      assert.equal(cartTotal(parts.part) + cartTotal(parts.rest), cartTotal(cart));
      const joined = joinCarts(parts);
      assert.equal(cartTotal(joined), cartTotal(cart));
      const pieces = ({ lines }: Cart) =>
        lines.reduce((sum, { quantity }) => sum + thousandths(quantity), 0n);
      assert.equal(pieces(joined), pieces(cart));
    }),
  );
});
