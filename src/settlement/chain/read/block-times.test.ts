import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  type BlockTimes,
  blockInterval,
  dueWindow,
  idleLookAt,
  NO_BLOCK_TIMES,
  nextBlockAt,
  nextLookAt,
  withArrival,
  withLook,
} from '#settlement/chain/read/block-times.ts';

/**
 * Returns a chain whose block n is mined at n * interval + phase, with timestamps in whole seconds.
 */
function chainOf(intervalMs: number, phaseMs: number) {
  const numberAt = (at: number) => Math.floor((at - phaseMs) / intervalMs);
  const look = (blockTimes: BlockTimes, at: number): BlockTimes => {
    const number = numberAt(at);
    const time = Math.floor((number * intervalMs) / 1000) * 1000;
    return withLook(blockTimes, { number: BigInt(number), time, at });
  };
  return { look, comesAfter: (at: number) => (numberAt(at) + 1) * intervalMs + phaseMs };
}

function looks(
  chain: ReturnType<typeof chainOf>,
  { count, from, every }: { from: number; every: number; count: number },
) {
  let blockTimes = NO_BLOCK_TIMES;
  for (let i = 0; i < count; i++) blockTimes = chain.look(blockTimes, from + i * every);
  return blockTimes;
}

const told = (...times: number[]): BlockTimes =>
  times.reduce(
    (blockTimes, at, index) =>
      withArrival(blockTimes, { number: BigInt(index), time: index * 1_000, at }),
    NO_BLOCK_TIMES,
  );

describe('the block-time estimator', () => {
  it('knows the interval after a few regular blocks', () => {
    assert.equal(nextBlockAt(told(0, 1_000, 2_000), 2_100), null);
    assert.equal(nextBlockAt(told(0, 1_000, 2_010, 3_000), 3_100), 4_000);
  });

  it('predicts nothing when blocks are irregular, or the next one is late', () => {
    assert.equal(nextBlockAt(told(0, 1_000, 2_600, 3_000), 3_100), null);
    assert.equal(nextBlockAt(told(0, 1_000, 2_000, 3_000), 4_100), null);
  });

  for (const intervalMs of [1_000, 2_000, 12_000]) {
    it(`learns blocks of ${intervalMs} ms from one poll every 15 s`, () => {
      const chain = chainOf(intervalMs, 370);
      const blockTimes = looks(chain, { from: 100_000, every: 15_130, count: 20 });
      assert.equal(blockInterval(blockTimes), intervalMs);
      const window = dueWindow(blockTimes);
      assert(window !== null);
      const due = chain.comesAfter(100_000 + 19 * 15_130);
      assert(window.from <= due && due <= window.to, `${due} is not in ${JSON.stringify(window)}`);
    });
  }

  it('is not misled by a lagging node', () => {
    const blockTimes = told(0, 1_000, 2_000, 3_000);
    const after = withLook(blockTimes, { number: 1n, time: 1_000, at: 3_100 });
    assert.deepEqual(after, blockTimes);
  });
});

describe('polls of the head while a payment waits', () => {
  /** Polls until the next block is seen. @returns the number of polls. */
  function looksUntilSeen(chain: ReturnType<typeof chainOf>, start: BlockTimes, since: number) {
    let blockTimes = chain.look(start, since);
    const due = chain.comesAfter(since);
    let lastLookAt = since;
    for (let count = 1; ; count++) {
      lastLookAt = Math.max(
        lastLookAt + 25,
        nextLookAt(blockTimes, { lastLookAt, since, shortestMs: 25 }),
      );
      blockTimes = chain.look(blockTimes, lastLookAt);
      if (lastLookAt >= due) return { count, lateMs: lastLookAt - due };
      assert(count < 100, 'never seen');
    }
  }

  for (const [intervalMs, most] of [
    [250, 4],
    [1_000, 4],
    [2_000, 4],
    [12_000, 3],
  ] as const) {
    it(`are at most ${most} at blocks of ${intervalMs} ms, once these are known`, () => {
      const chain = chainOf(intervalMs, 130);
      let blockTimes = looks(chain, { from: 100_000, every: 15_130, count: 12 });
      const counts: number[] = [];
      for (let i = 0; i < 30; i++) {
        const since = 290_000 + i * 7_717;
        const seen = looksUntilSeen(chain, blockTimes, since);
        blockTimes = chain.look(blockTimes, since);
        counts.push(seen.count);
        assert(seen.lateMs <= intervalMs / 4, `${seen.lateMs} ms late`);
      }
      const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
      assert(mean <= most, `${mean} looks`);
    });
  }

  it('learn the times of slow blocks between payments, without extra polls', () => {
    const chain = chainOf(12_000, 4_321);
    let blockTimes = looks(chain, { from: 100_000, every: 15_130, count: 5 });
    let lastLookAt = 100_000 + 4 * 15_130;
    const started = lastLookAt;
    let count = 0;
    for (; lastLookAt < started + 300_000; count++) {
      lastLookAt = idleLookAt(blockTimes, { lastLookAt, idleMs: 15_000 });
      blockTimes = chain.look(blockTimes, lastLookAt);
    }
    assert(count <= 26, `${count} looks in five minutes`);
    const window = dueWindow(blockTimes);
    assert(window !== null && window.to - window.from < 1_000, JSON.stringify(window));
  });

  it('number at most three a second while the chain has no new blocks', () => {
    for (const blockTimes of [NO_BLOCK_TIMES, told(0, 1_000, 2_000, 3_000)]) {
      const stuckAt = 3_000 + 10_000;
      const next = nextLookAt(blockTimes, { lastLookAt: stuckAt, since: 3_000, shortestMs: 25 });
      assert(next - stuckAt >= 333);
    }
  });
});
