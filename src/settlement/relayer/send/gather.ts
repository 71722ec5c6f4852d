import { type BlockRhythm, blockInterval, nextBlockAt } from '#settlement/chain/block-rhythm.ts';
import { MAX_BATCH_PAYMENTS } from '#settlement/relayer/send/gas.ts';

/** What the last flush of payments shows about the load. Times in milliseconds, any origin. */
export interface LastFlush {
  readonly at: number;
  readonly payments: number;
  /** How long its payments had gathered. */
  readonly gatheredMs: number;
  /** From the claim to the node's answer. */
  readonly tookMs: number;
}

export const NO_FLUSH: LastFlush = {
  at: Number.NEGATIVE_INFINITY,
  payments: 0,
  gatheredMs: 0,
  tookMs: 0,
};

/** Without a rhythm: short for customers who wait, long enough that a block holds few batches. */
const GATHER_MS = 40;
/** On a fast chain at most this part of a block's time: 40 ms of 200 would miss many a block. */
const GATHER_SHARE = 1 / 10;
/** How long before its block a batch goes out, in addition to twice the time of a flush. */
const MARGIN_MS = 80;

/**
 * When payments that wait while every lane is busy are to be sent. Sending a batch early gains
 * nothing, because it waits for the block anyway, while large batches cost a third of the gas per
 * payment. So with a steady chain they gather until shortly before the block, or until a batch is
 * probably full; otherwise for GATHER_MS, or less on a fast chain.
 */
export function flushAt(last: LastFlush, rhythm: BlockRhythm, now: number): number {
  const intervalMs = blockInterval(rhythm) ?? Number.POSITIVE_INFINITY;
  const soon = last.at + Math.min(GATHER_MS, intervalMs * GATHER_SHARE);
  const block = nextBlockAt(rhythm, now);
  if (block === null) return soon;
  const latest = block - MARGIN_MS - 2 * last.tookMs;
  if (latest <= now) return soon;
  return Math.max(soon, Math.min(latest, last.at + fullAfterMs(last)));
}

/** Half a batch early, so that a growing load does not leave payments behind. */
function fullAfterMs({ payments, gatheredMs }: LastFlush): number {
  if (payments === 0 || gatheredMs <= 0) return Number.POSITIVE_INFINITY;
  return ((MAX_BATCH_PAYMENTS * 0.75) / payments) * gatheredMs;
}
