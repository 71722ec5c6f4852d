import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CART_ICONS, CATALOG_ICONS, ICONS, PAGE_ICONS, TILL_ICONS } from './icon-names.ts';
import { iconPaths } from './icon-paths.ts';

test('every icon is one valid path that begins with an absolute position', () => {
  const names = { ...ICONS, ...TILL_ICONS, ...CART_ICONS, ...CATALOG_ICONS, ...PAGE_ICONS };
  const paths = Object.entries(iconPaths(names));
  assert.equal(paths.length, Object.keys(names).length);
  for (const [name, path] of paths) {
    assert.match(path, /^M[-\d.]+ [-\d.]+/, name);
    assert.doesNotMatch(path, /NaN|undefined/, name);
  }
});

test('a circle and a rectangle become equivalent paths', () => {
  const { info = '', lock = '' } = iconPaths({ info: 'info', lock: 'lock' });
  assert.ok(info.startsWith('M2 12a10 10 0 1 0 20 0a10 10 0 1 0 -20 0'), info);
  assert.ok(lock.startsWith('M5 11h14a2 2 0 0 1 2 2v7'), lock);
  assert.throws(() => iconPaths({ none: 'no such drawing' }), /no drawing/);
});
