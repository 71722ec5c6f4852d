import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addItem } from './cart.ts';
import { holdCart, MOST_HELD, nextNumber, readHeld, takeCart } from './held-carts.ts';
import { next, type TillEvent } from './till-machine.ts';
import { NEW_TILL, type Till } from './till-phases.ts';
import type { TillRunner } from './till-runner.ts';

const TAX = { tax_rate: 0, tax_inclusive: true };
const cartOf = (name: string) =>
  addItem(null, { id: `item_${name}`, name, unit_amount: 100, ...TAX }, 'eur');

/** A till without a service. It cannot encrypt here, so the carts are readable. */
function aTill() {
  let till: Till = NEW_TILL;
  const dispatch = (action: Omit<TillEvent, 'now'>) => {
    till = next(till, { ...action, now: 0 } as TillEvent);
  };
  const runner = { view: () => ({ till }), dispatch } as unknown as TillRunner;
  const add = (name: string) => dispatch({ type: 'cart', cart: cartOf(name) } as TillEvent);
  return { runner, add, till: () => till, held: () => readHeld(till.held ?? null) };
}

test('a till numbers held carts, and refuses one more than it can hold', async () => {
  const { runner, add, till, held } = aTill();
  for (let count = 1; count <= MOST_HELD; count++) {
    add('Tea');
    assert.ok(await holdCart(runner, nextNumber(await held()), 'Blue Door'));
  }
  assert.equal((await held()).at(-1)?.name, '50');
  add('Coffee');
  assert.equal(await holdCart(runner, 'Table 4', 'Blue Door'), false);
  assert.equal(till().cart?.lines[0]?.name, 'Coffee');
  // Taking one back makes room for the cart in progress.
  assert.ok(await takeCart(runner, '7', 'Blue Door'));
  assert.deepEqual([(await held()).length, till().cart?.heldAs], [MOST_HELD, '7']);
});

test('a cart that changes while it is being held stays, and is not held as well', async () => {
  const { runner, add, till, held } = aTill();
  add('Tea');
  const holding = holdCart(runner, '1', 'Blue Door');
  add('Coffee');
  assert.equal(await holding, false);
  assert.deepEqual([await held(), till().cart?.lines[0]?.name], [[], 'Coffee']);
});
