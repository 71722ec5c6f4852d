import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type BlockTimes,
  NO_BLOCK_TIMES,
  withArrival,
} from '#settlement/chain/read/block-times.ts';
import { batchDueAt, NO_BATCH } from '#settlement/relayer/send/batching-delay.ts';

const blockTimesOf = (...times: number[]): BlockTimes =>
  times.reduce(
    (blockTimes, at, index) =>
      withArrival(blockTimes, { number: BigInt(index), time: index * 1_000, at }),
    NO_BLOCK_TIMES,
  );
const STEADY = blockTimesOf(0, 1_000, 2_010, 3_000);

describe('waiting payments are sent', () => {
  const batch = { at: 3_050, payments: 1, delayMs: 40, tookMs: 10 };

  it('after a short time if blocks are irregular', () => {
    assert.equal(batchDueAt(batch, NO_BLOCK_TIMES, 3_060), 3_090);
    assert.equal(batchDueAt(NO_BATCH, NO_BLOCK_TIMES, 3_060), Number.NEGATIVE_INFINITY);
  });

  it('after a tenth of a block on a fast chain with a distant node', () => {
    const fast = blockTimesOf(0, 200, 402, 600);
    const far = { ...batch, at: 640, tookMs: 60 };
    assert.equal(batchDueAt(far, fast, 650), 660);
  });

  it('shortly before the block if blocks are regular', () => {
    assert.equal(batchDueAt(batch, STEADY, 3_060), 3_900);
  });

  it('earlier the longer a batch takes to send', () => {
    assert.equal(batchDueAt({ ...batch, tookMs: 100 }, STEADY, 3_060), 3_720);
  });

  it('after a short time if the next block is too near', () => {
    assert.equal(batchDueAt({ ...batch, at: 3_900 }, STEADY, 3_910), 3_940);
  });

  it('when a batch is probably three quarters full', () => {
    const busy = { ...batch, payments: 50, delayMs: 100 };
    assert.equal(batchDueAt(busy, STEADY, 3_060), 3_200);
  });
});
