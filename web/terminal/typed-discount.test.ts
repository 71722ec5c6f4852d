import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readDiscount, writeDiscount } from './typed-discount.ts';

const REDUCED = { currency: 'eur', most: 1_910n, wrote: null };
const read = (text: string) => {
  const typed = readDiscount(text, REDUCED);
  return typed.is === 'refused' ? typed.words : [typed.discount.rate, typed.discount.sum];
};

test('a discount is a sum or, with a percent sign, a percentage in any script', () => {
  for (const text of [
    '12 %',
    '12%',
    '%12',
    '12,0\u00a0%',
    '١٢٪',
    '\u200e12\u200e٪\u061c',
    '１２％',
  ]) {
    assert.deepEqual(read(text), [1_200, 229], text);
  }
  assert.deepEqual(read('7.5 %'), [750, 143]);
  assert.deepEqual(read('100 %'), [10_000, 1_910]);
  assert.deepEqual(
    [read('12'), read('١٢٫٥٠'), read(' ')],
    [
      [null, 1_200],
      [null, 1_250],
      [null, 0],
    ],
  );
});

test('a discount that is more than the price, or no number, is refused in words', () => {
  const percentage = 'Enter a percentage from 0 to 100, such as 7 or 7.5.';
  assert.deepEqual(['%', '100.01 %'].map(read), [percentage, percentage]);
  assert.match(String(read('19.11')), /^The discount can be at most .?€19\.10/);
  for (const text of ['0 %', '-5 %', '5 %%', '5 % 5', 'x', '1.234 %']) {
    assert.equal(typeof read(text), 'string', text);
  }
});

test('the field of a discount says what is stored, and means exactly that', () => {
  assert.equal(writeDiscount({ sum: 229, rate: 1_200 }, 'eur'), '12 %');
  assert.equal(writeDiscount({ sum: 0, rate: null }, 'eur'), '');
  const written = writeDiscount({ sum: 1_250, rate: null }, 'kwd');
  const typed = readDiscount(written, { currency: 'kwd', most: 9_999n, wrote: 1_250n });
  assert.equal(typed.is === 'discount' && typed.discount.sum, 1_250);
});
