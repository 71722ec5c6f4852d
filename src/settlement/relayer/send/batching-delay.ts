import { type BlockTimes, blockInterval, nextBlockAt } from '#settlement/chain/read/block-times.ts';
import { MAX_BATCH_PAYMENTS } from '#settlement/relayer/send/plan-batches.ts';

/** The last batch, which shows the current load. Times are in milliseconds, from any origin. */
export interface LastBatch {
  readonly at: number;
  readonly payments: number;
  /** Time since the previous batch, during which these payments arrived. */
  readonly delayMs: number;
  /** Time from claiming the payments to the node's answer. */
  readonly tookMs: number;
}

export const NO_BATCH: LastBatch = {
  at: Number.NEGATIVE_INFINITY,
  payments: 0,
  delayMs: 0,
  tookMs: 0,
};

/**
 * The batching delay. Short, because customers wait, but long enough that a block contains few
 * batches.
 */
const BATCHING_DELAY_MS = 40;
/**
 * The delay is at most this share of the block interval: on a fast chain, a delay of 40 ms would
 * make payments miss many of the blocks, which are 200 ms apart.
 */
const BATCHING_DELAY_SHARE = 1 / 10;
/** A batch is sent before its block is due, by this time plus twice the time that sending takes. */
const MARGIN_MS = 80;

/**
 * Returns when to send payments that wait while every sender is busy. Sending early gains nothing,
 * because a batch waits for its block anyway, and a large batch needs only a third of the gas per
 * payment. If block times are steady, payments wait until shortly before the block, or until a
 * batch is probably three quarters full; otherwise for BATCHING_DELAY_MS, or less on a fast chain.
 */
export function batchDueAt(last: LastBatch, blockTimes: BlockTimes, now: number): number {
  const intervalMs = blockInterval(blockTimes) ?? Number.POSITIVE_INFINITY;
  const soon = last.at + Math.min(BATCHING_DELAY_MS, intervalMs * BATCHING_DELAY_SHARE);
  const block = nextBlockAt(blockTimes, now);
  if (block === null) return soon;
  const latest = block - MARGIN_MS - 2 * last.tookMs;
  if (latest <= now) return soon;
  return Math.max(soon, Math.min(latest, last.at + fullAfterMs(last)));
}

/**
 * Returns the time in which a batch becomes three quarters full, in milliseconds after the last
 * batch. A limit of three quarters leaves room, so that a growing load leaves no payments behind.
 */
function fullAfterMs({ payments, delayMs }: LastBatch): number {
  if (payments === 0 || delayMs <= 0) return Number.POSITIVE_INFINITY;
  return ((MAX_BATCH_PAYMENTS * 0.75) / payments) * delayMs;
}
