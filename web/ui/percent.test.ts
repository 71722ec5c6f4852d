import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateText, readPercent, writePercent } from './percent.ts';

const TYPED: readonly (readonly [text: string, basisPoints: number | null])[] = [
  ['7', 700],
  ['7.5', 750],
  ['7,5', 750],
  [' 19 ', 1_900],
  ['5.25', 525],
  ['.5', 50],
  ['0', 0],
  ['0.00', 0],
  ['0,500', null],
  ['100', 10_000],
  ['100,00', 10_000],
  ['٧٫٥'.replace('٫', ','), 750],
  ['', null],
  ['100.01', null],
  ['1,000', null],
  ['7.125', null],
  ['-7', null],
  ['7 %', null],
  ['seven', null],
  ['7e1', null],
];

test('a typed percentage becomes basis points, or is refused', () => {
  for (const [text, basisPoints] of TYPED) assert.equal(readPercent(text), basisPoints, text);
});

test('the text that a form writes has the same value when it is read back', () => {
  for (const rate of [0, 1, 50, 525, 700, 750, 1_900, 9_999, 10_000]) {
    assert.equal(readPercent(writePercent(rate)), rate);
  }
  assert.deepEqual([700, 750, 525].map(writePercent), ['7', '7.5', '5.25']);
  assert.deepEqual([0, 750].map(rateText), ['0 %', '7.5 %']);
});
