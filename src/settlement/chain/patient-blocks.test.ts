import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blocksLasting } from '#settlement/chain/timeout-blocks.ts';
import { CUSTOM, profileNamed } from '#settlement/profiles.ts';

const of = (intervalMs: number | null, blocks: number, profile = CUSTOM) =>
  blocksLasting({ minBlockMs: 1_000, profile }, { blocks, intervalMs });

test('what is waited for lasts as long on a fast chain as with blocks of a second', () => {
  assert.deepEqual([of(200, 2), of(200, 3), of(200, 8), of(200, 64)], [10n, 15n, 38n, 304n]);
  assert.deepEqual([of(500, 2), of(500, 8)], [4n, 16n]);
});

test('it is never fewer blocks than that, and with blocks of a second it is as many', () => {
  for (const intervalMs of [960, 1_000, 1_040, 2_000, 12_000]) {
    assert.deepEqual([of(intervalMs, 2), of(intervalMs, 64)], [2n, 64n], String(intervalMs));
  }
});

test('before the pace is measured the profile tells it, and otherwise it is a second', () => {
  assert.equal(of(null, 2, profileNamed('base')), 10n);
  assert.equal(of(null, 2, profileNamed('ethereum')), 2n);
  assert.equal(of(null, 2), 2n);
  // A chain that goes faster or slower than its profile says is believed.
  assert.equal(of(2_000, 2, profileNamed('base')), 2n);
});
