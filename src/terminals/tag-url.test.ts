import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toIdKey } from '#core/ids.ts';
import { tagOfToken, tagToken } from '#terminals/tag-url.ts';

const TAG = '0196f3a2-7c41-7d9e-8b55-3f2a61c0de47';

test('the token of a tag names its cell, and is valid in that cell alone', () => {
  const [first, fourth] = [toIdKey(Buffer.alloc(32, 7)), toIdKey(Buffer.alloc(32, 7), 4)];
  const [here, there] = [tagToken(first, TAG), tagToken(fourth, TAG)];
  assert.deepEqual([here.length, there], [22, `4${here}`]);
  assert.deepEqual([tagOfToken(first, here), tagOfToken(fourth, there)], [TAG, TAG]);
  assert.deepEqual([tagOfToken(first, there), tagOfToken(fourth, `5${here}`)], [null, null]);
});
