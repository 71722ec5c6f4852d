import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forget, keep, readKept, searchOf } from './kept-filters.ts';

test('saved filters have unique names, newest first, and can be deleted', () => {
  const one = { name: 'Bar', search: 'terminal=tml_1' };
  const other = { name: 'Refunded', search: 'status=refunded' };
  const kept = keep(keep([], one), other);
  assert.deepEqual(kept, [other, one]);
  assert.deepEqual(keep(kept, { ...one, search: 'terminal=tml_2' }), [
    { name: 'Bar', search: 'terminal=tml_2' },
    other,
  ]);
  assert.deepEqual(forget(kept, 'Refunded'), [one]);
  const many = Array.from({ length: 20 }, (_, at) => ({ name: `${at}`, search: `q=${at}` }));
  assert.equal(many.reduce(keep, kept).length, 8);
});

test('stored text that is not a list of filters counts as no filters', () => {
  for (const text of [null, '', 'nonsense', '{}', '[1, null, {"name":"x"}]']) {
    assert.deepEqual(readKept(text), []);
  }
  assert.equal(readKept(JSON.stringify([{ name: 'a', search: 'b=c' }])).length, 1);
});

test('equal filters give equal text, at any position in the list', () => {
  const typed = new URLSearchParams('time=7_days&cursor=abc&status=refunded');
  assert.equal(searchOf(typed), 'status=refunded&time=7_days');
});
