import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ToldHead } from '#settlement/chain/heads.ts';
import type { Hex } from '#settlement/requests.ts';
import { ancestorOf, noteTold } from './told-heads.ts';

/** Its name is its height, and after a fork the fork's letter too. */
const hashOf = (number: number, fork = ''): Hex => `0x${number}${fork}`;

function block(number: number, fork = '', parentFork = fork): ToldHead & { parentHash: Hex } {
  const parentHash = hashOf(number - 1, parentFork);
  return { number: BigInt(number), hash: hashOf(number, fork), parentHash, time: number * 1000 };
}

function told(...blocks: readonly ToldHead[]): Map<bigint, ToldHead> {
  const heads = new Map<bigint, ToldHead>();
  for (const one of blocks) noteTold(heads, one);
  return heads;
}

describe('announced blocks', () => {
  it('lead from a head down to its ancestors', () => {
    const heads = told(block(7), block(8), block(9));
    assert.deepEqual(ancestorOf(heads, block(10), 7n), block(7));
    assert.deepEqual(ancestorOf(heads, block(10), 9n), block(9));
  });

  it('lead nowhere over one that was not announced', () => {
    assert.equal(ancestorOf(told(block(7), block(9)), block(10), 7n), null);
    assert.equal(ancestorOf(told(), block(10), 9n), null);
  });

  it('say nothing of the head itself, nor of what lies above it', () => {
    const heads = told(block(9), block(10), block(11));
    assert.equal(ancestorOf(heads, block(10), 10n), null);
    assert.equal(ancestorOf(heads, block(10), 11n), null);
  });

  it('of an abandoned fork are no ancestors', () => {
    const heads = told(block(7), block(8), block(9), block(8, 'b', ''));
    assert.deepEqual(ancestorOf(heads, block(9, 'b'), 8n), block(8, 'b', ''));
    assert.equal(ancestorOf(heads, block(9, 'b'), 7n)?.hash, hashOf(7));
    assert.equal(ancestorOf(heads, block(10), 8n), null);
  });

  it('are not kept for ever', () => {
    const heads = told(...Array.from({ length: 200 }, (_, index) => block(index + 1)));
    assert.equal(heads.size, 64);
    assert.notEqual(ancestorOf(heads, block(201), 137n), null);
  });
});
