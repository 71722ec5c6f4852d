import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Hex } from '#settlement/chain-requests.ts';
import type { RecentBlock } from '#settlement/relayer/state-machine/relayer-state.ts';
import { ancestorOf, noteBlock } from './watch-heads.ts';

/** Returns a fake block hash: the block's height, and the letter of its fork if it is on one. */
const hashOf = (number: number, fork = ''): Hex => `0x${number}${fork}`;

const SEEN_AT = new Date(0);

function block(number: number, fork = '', parentFork = fork): RecentBlock & { parentHash: Hex } {
  const parentHash = hashOf(number - 1, parentFork);
  const time = new Date(number * 1000);
  return { number: BigInt(number), hash: hashOf(number, fork), parentHash, time, seenAt: SEEN_AT };
}

function seen(...blocks: readonly RecentBlock[]): Map<string, RecentBlock> {
  const recent = new Map<string, RecentBlock>();
  for (const one of blocks) noteBlock(recent, one);
  return recent;
}

describe('known blocks', () => {
  it('lead from a head down to its ancestors', () => {
    const recent = seen(block(7), block(8), block(9));
    assert.deepEqual(ancestorOf(recent, block(10), 7n), block(7));
    assert.deepEqual(ancestorOf(recent, block(10), 9n), block(9));
  });

  it('lead nowhere across an unknown block', () => {
    assert.equal(ancestorOf(seen(block(7), block(9)), block(10), 7n), null);
    assert.equal(ancestorOf(seen(), block(10), 9n), null);
  });

  it('include neither the head itself nor blocks above it', () => {
    const recent = seen(block(9), block(10), block(11));
    assert.equal(ancestorOf(recent, block(10), 10n), null);
    assert.equal(ancestorOf(recent, block(10), 11n), null);
  });

  it('lead to the ancestors on their own fork', () => {
    const recent = seen(block(7), block(8), block(9), block(8, 'b', ''));
    assert.deepEqual(ancestorOf(recent, block(9, 'b'), 8n), block(8, 'b', ''));
    assert.equal(ancestorOf(recent, block(9, 'b'), 7n)?.hash, hashOf(7));
    assert.deepEqual(ancestorOf(recent, block(10), 8n), block(8));
  });

  it('are not kept forever', () => {
    const recent = seen(...Array.from({ length: 200 }, (_, index) => block(index + 1)));
    assert.equal(recent.size, 64);
    assert.notEqual(ancestorOf(recent, block(201), 137n), null);
  });
});
