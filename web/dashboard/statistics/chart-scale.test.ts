import '../../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changeWords, dayAtKey, scaleFor } from './chart-scale.ts';

test('a scale begins at zero and ends with a round number above every value', () => {
  assert.deepEqual(scaleFor([0, 170.2, 41], false), { top: 200, ticks: [0, 100, 200] });
  assert.deepEqual(scaleFor([240], false), { top: 300, ticks: [0, 150, 300] });
  assert.deepEqual(scaleFor([999_999], false), { top: 1_000_000, ticks: [0, 500_000, 1_000_000] });
  assert.deepEqual(scaleFor([5], true), { top: 5, ticks: [0, 5] }, 'no half payments');
  assert.deepEqual(scaleFor([], true), { top: 2, ticks: [0, 1, 2] });
  assert.deepEqual(scaleFor([0, 0], false), { top: 1, ticks: [0, 0.5, 1] });
  for (let most = 1; most < 5_000; most += 7) assert.ok(scaleFor([most], true).top >= most);
});

test('arrow keys move along the days and stop at both ends', () => {
  assert.equal(dayAtKey('ArrowRight', 5, 7), 6);
  assert.equal(dayAtKey('ArrowRight', 6, 7), 6);
  assert.equal(dayAtKey('ArrowLeft', 0, 7), 0);
  assert.equal(dayAtKey('Home', 5, 7), 0);
  assert.equal(dayAtKey('End', 0, 90), 89);
  assert.equal(dayAtKey('Tab', 0, 90), null);
});

test('a change is shown in percent, with one decimal if it is small', () => {
  assert.equal(changeWords(112, 100), '+12 %');
  assert.equal(changeWords(96.5, 100), '−3.5 %');
  assert.equal(changeWords(100, 100), '±0 %');
  assert.equal(changeWords(5, 0), null);
  assert.equal(changeWords(1_300, 100), '+1,200 %');
});
