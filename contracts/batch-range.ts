// The Merkle mountain range over the roots of all batches, as BatchRange.sol keeps it. Batches are
// numbered from 1. Batch b writes one node that covers the 2^h batches ending with b, where the
// height h is how many times 2 divides b.

import type { Hex } from 'viem';
import { parentOf } from './payment-tree.ts';

/** The root of a batch's payments, and the range node that the batch wrote. */
export type RangedBatch = { readonly root: Hex; readonly node: Hex };

/** The contract keeps a node below PEAK_HEIGHT for this many batches. */
const RING = 256n;

/** From this height on, the contract keeps the newest node of each height. */
const PEAK_HEIGHT = 7;

/**
 * A proof ends at a node that the contract keeps for more than this many further batches. Such a
 * node always exists: when a node has this many left, its parent has been written.
 */
export const LASTING_BATCHES = 128n;

/** Returns how many times 2 divides the batch number. */
function heightOf(batch: bigint): number {
  let height = 0;
  while ((batch & (1n << BigInt(height))) === 0n) height++;
  return height;
}

/** Returns the index at which the contract stores this batch's node (`rangeNode`). */
export function nodeIndexOf(batch: bigint): bigint {
  const height = heightOf(batch);
  return height < PEAK_HEIGHT ? batch % RING : RING + BigInt(height);
}

/** Returns the number of the batch that overwrites this batch's node. */
export function overwrittenBy(batch: bigint): bigint {
  const height = heightOf(batch);
  return height < PEAK_HEIGHT ? batch + RING : batch + (2n << BigInt(height));
}

/**
 * Returns the lowest node above the batch that the contract keeps for more than {@link
 * LASTING_BATCHES} further batches, as the number of the batch that wrote it. `count` is the
 * current number of batches.
 */
export function lastingNodeOf(batch: bigint, count: bigint): bigint {
  if (batch < 1n || batch > count)
    throw new RangeError(`batch ${batch} is not between 1 and ${count}`);
  let top = batch;
  while (overwrittenBy(top) - count <= LASTING_BATCHES) top += 1n << BigInt(heightOf(top));
  return top;
}

/** The node of this height over the batches that end with `end`. It may not exist. */
type Span = { readonly end: bigint; readonly height: number };

/** Returns the siblings on the path from the batch up to the node of batch `top`, bottom up. */
function siblingsOf(batch: bigint, top: bigint): Span[] {
  const height = heightOf(top);
  if (batch > top || batch <= top - (1n << BigInt(height))) {
    throw new RangeError(`the node of batch ${top} does not cover batch ${batch}`);
  }
  return Array.from({ length: height }, (_, level) => {
    const index = (batch - 1n) >> BigInt(level);
    return { end: ((index ^ 1n) + 1n) << BigInt(level), height: level };
  });
}

/**
 * Returns the batches whose nodes make up this node. The first of them contributes its root instead
 * of its node.
 */
function partsOf({ end, height }: Span): bigint[] {
  if (heightOf(end) === height) return [end];
  return [end, ...Array.from({ length: height }, (_, level) => end - (1n << BigInt(level)))];
}

/** Returns the batches whose data {@link rangePath} needs. */
export function batchesOnPath(batch: bigint, top: bigint): bigint[] {
  return [...new Set(siblingsOf(batch, top).flatMap(partsOf))];
}

/**
 * Returns the proof of a batch's root against the node of batch `top`: the siblings, bottom up. It
 * is appended to a payment's proof within its batch.
 */
export function rangePath(
  { batch, top }: { readonly batch: bigint; readonly top: bigint },
  at: (batch: bigint) => RangedBatch,
): Hex[] {
  return siblingsOf(batch, top).map((span) => {
    const [end = span.end, ...lefts] = partsOf(span);
    if (lefts.length === 0) return span.height === 0 ? at(end).root : at(end).node;
    return lefts.reduce((node, left) => parentOf(at(left).node, node), at(end).root);
  });
}

/**
 * Returns the peaks, bottom up, as batch numbers. Their nodes together cover all `count` batches.
 */
export function peaksOf(count: bigint): bigint[] {
  const peaks: bigint[] = [];
  for (let batch = count; batch > 0n; batch -= 1n << BigInt(heightOf(batch))) peaks.push(batch);
  return peaks;
}

/**
 * Appends batches to a range of `count` batches. `nodes` must include its peaks (see {@link
 * peaksOf}).
 */
export function openRange(count: bigint, nodes: ReadonlyMap<bigint, RangedBatch> = new Map()) {
  const peaks = new Map(peaksOf(count).map((batch) => [heightOf(batch), nodes.get(batch)?.node]));
  let last = count;
  return {
    /** Appends a batch. @returns the node that it writes. */
    append(root: Hex): Hex {
      last += 1n;
      const height = heightOf(last);
      let node = root;
      for (let level = 0; level < height; level++) {
        const left = peaks.get(level);
        if (left === undefined) throw new Error(`the range has no peak of height ${level}`);
        node = parentOf(left, node);
        peaks.delete(level);
      }
      peaks.set(height, node);
      return node;
    },
  };
}
