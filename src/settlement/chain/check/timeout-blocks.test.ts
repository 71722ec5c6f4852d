import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksLasting } from '#settlement/chain/check/timeout-blocks.ts';
import { CUSTOM, profileNamed } from '#settlement/chain-profiles.ts';

const of = (intervalMs: number | null, blocks: number, profile = CUSTOM) =>
  blocksLasting({ minBlockMs: 1_000, profile }, { blocks, intervalMs });

test('a time-out lasts as long on a fast chain as on a chain with one-second blocks', () => {
  assert.deepEqual([of(200, 2), of(200, 3), of(200, 8), of(200, 64)], [10n, 15n, 38n, 304n]);
  assert.deepEqual([of(500, 2), of(500, 8)], [4n, 16n]);
});

test('a time-out never has fewer blocks, and exactly as many if blocks last a second', () => {
  for (const intervalMs of [960, 1_000, 1_040, 2_000, 12_000]) {
    assert.deepEqual([of(intervalMs, 2), of(intervalMs, 64)], [2n, 64n], String(intervalMs));
  }
});

test("before the block interval is measured, the profile's is used, or one second", () => {
  assert.equal(of(null, 2, profileNamed('base')), 10n);
  assert.equal(of(null, 2, profileNamed('ethereum')), 2n);
  assert.equal(of(null, 2), 2n);
  // The measured pace of a chain takes precedence over its profile.
  assert.equal(of(2_000, 2, profileNamed('base')), 2n);
});
