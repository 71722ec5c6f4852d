import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitted } from './brand-picture.ts';

test('a logo keeps its proportions, is never enlarged, and stays at least a pixel wide', () => {
  assert.deepEqual(fitted({ width: 2048, height: 1024 }, 512), { width: 512, height: 256 });
  assert.deepEqual(fitted({ width: 300, height: 100 }, 512), { width: 300, height: 100 });
  assert.deepEqual(fitted({ width: 4000, height: 20 }, 512), { width: 512, height: 16 });
});
