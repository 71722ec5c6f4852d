import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { base62, fromBase62 } from '#core/base62.ts';

const LENGTH = 22;
const numbers = fc.bigInt({ min: 0n, max: 62n ** BigInt(LENGTH) - 1n });

test('digits are in the order 0-9, A-Z, a-z, as in ASCII', () => {
  const digits = [0n, 9n, 10n, 35n, 36n, 61n].map((value) => base62(value, 1));
  assert.deepEqual(digits, ['0', '9', 'A', 'Z', 'a', 'z']);
  assert.deepEqual(digits.toSorted(), digits);
});

test('every number that fits is read back unchanged', () => {
  fc.assert(
    fc.property(numbers, (value) => {
      const text = base62(value, LENGTH);
      assert.equal(text.length, LENGTH);
      assert.equal(fromBase62(text), value);
    }),
  );
});

test('texts of one length sort like their numbers', () => {
  fc.assert(
    fc.property(numbers, numbers, (a, b) => {
      assert.equal(base62(a, LENGTH) < base62(b, LENGTH), a < b);
    }),
  );
});

test('excess high digits are dropped', () => {
  assert.equal(base62(62n * 5n + 7n, 1), '7');
});

test('other characters are refused', () => {
  for (const text of ['-', 'a b', 'é', '0_']) assert.equal(fromBase62(text), null, text);
});
