import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { positionAt, withMoved } from './catalog-order.ts';

/** Items at distinct positions, in their order. */
const catalogs = fc
  .uniqueArray(fc.nat(20), { minLength: 1, maxLength: 8 })
  .map((positions) =>
    positions.sort((a, b) => a - b).map((position) => ({ id: `item_${position}`, position })),
  );

test('a moved item is at its new index, and the others keep their order', () => {
  fc.assert(
    fc.property(catalogs, fc.nat(), fc.nat(), (items, which, where) => {
      const moved = items[which % items.length] ?? assert.fail();
      const others = items.filter((item) => item !== moved);
      const index = where % (others.length + 1);
      const after = withMoved(items, { ...moved, position: positionAt(others, index) });
      const ids = others.map(({ id }) => id);
      assert.deepEqual(
        after.map(({ id }) => id),
        ids.toSpliced(index, 0, moved.id),
      );
      assert.equal(new Set(after.map(({ position }) => position)).size, items.length);
    }),
  );
});
