import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { RecentMap } from '#core/size-limited-map.ts';

describe('a map with a limit', () => {
  test('drops the oldest entry, and nothing before it is full', () => {
    const map = new RecentMap<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    assert.deepEqual([map.get('a'), map.get('b')], [1, 2]);
    map.set('c', 3);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [undefined, 2, 3]);
  });

  test('keeps an entry that was set again, with its new value', () => {
    const map = new RecentMap<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    map.set('c', 4);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [3, undefined, 4]);
  });

  test('reuses the room of deleted entries', () => {
    const map = new RecentMap<number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.delete('b');
    map.set('c', 3);
    assert.deepEqual([map.get('a'), map.get('b'), map.get('c')], [1, undefined, 3]);
  });
});
