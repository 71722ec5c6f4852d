import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Chain } from '#settlement/chain/chain.ts';
import { finalBlock, shownBlock } from '#settlement/chain/read/final-block.ts';

/**
 * Returns a chain that reports its newest block as final immediately, or reports no final block.
 */
function chainOf({ final, blockMs }: { final: bigint | null; blockMs: number }) {
  const config = { minBlockMs: 1_000, profile: { blockMs } } as Chain['config'];
  const block = async () => (final === null ? null : { number: final });
  return { config, block } as unknown as Pick<Chain, 'block' | 'config'>;
}

test('blocks that are final immediately are read again for fifteen seconds', async () => {
  const slow = chainOf({ final: 1_000n, blockMs: 1_000 });
  assert.equal(await finalBlock(slow, 1_000n), 1_000n);
  assert.equal(await shownBlock(slow, 1_000n), 985n);
  const fast = chainOf({ final: 1_000n, blockMs: 500 });
  const back = Number(1_000n - (await shownBlock(fast, 1_000n)));
  assert.ok(back >= 28 && back <= 30, `${back} blocks of half a second`);
});

test('blocks that become final later are read once', async () => {
  const told = chainOf({ final: 900n, blockMs: 1_000 });
  assert.equal(await shownBlock(told, 1_000n), 900n);
  const silent = chainOf({ final: null, blockMs: 1_000 });
  assert.equal(await shownBlock(silent, 1_000n), await finalBlock(silent, 1_000n));
});
