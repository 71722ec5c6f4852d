import { present } from '#core/assert.ts';
import type { Block, Chain } from '#settlement/chain/chain.ts';
import { blocksLasting } from '#settlement/chain/check/timeout-blocks.ts';
import type { Fees } from '#settlement/chain/fees/gas-fees.ts';
import {
  type BlockTimes,
  blockInterval,
  NO_BLOCK_TIMES,
} from '#settlement/chain/read/block-times.ts';
import { CANCELLATION_GAS_LIMIT } from '#settlement/gas-ceilings.ts';
import type { Now } from '#settlement/relayer/state-machine/transaction.ts';

/** This process's view of the chain. Only `see` (relayer-state.ts) changes it. */
export interface ChainView {
  /** The newest block whose receipts are known. */
  readonly head: Block | null;
  /**
   * The time since which nodes have contradicted the head (process time), and the number of polls
   * in which they did; `null` if no node does.
   */
  readonly conflict: { readonly since: number; readonly polls: number } | null;
  /** The largest difference seen, in blocks, between nodes behind one URL. */
  readonly spread: bigint;
  /** The fees to offer now; `null` until a block is seen. */
  readonly fees: Fees | null;
  readonly tips: readonly bigint[];
  /** The gas limit of a cancellation: what the chain wants for one, as far as it is known. */
  readonly cancellationGas: bigint;
  /** The newest block that a node has announced; `null` if no node announces any. */
  readonly announced: bigint | null;
  /**
   * The newest safe and final blocks, and when they were read (process time). They are read only
   * while a transaction waits for them.
   */
  readonly finality: { readonly safe: bigint; readonly finalized: bigint; readonly readAt: number };
  readonly blockTimes: BlockTimes;
  /** Process time of the last answered poll; `null` if there was none. */
  readonly answeredAt: number | null;
  readonly failedPolls: number;
  /**
   * Milliseconds between the head's timestamp and our clock at the last answered poll; `null`
   * before it.
   */
  readonly headOffMs: number | null;
  readonly paused: boolean;
  /** True if at least half of the hourly ceiling is used, so that payments may soon exceed it. */
  readonly nearCeiling: boolean;
}

export const NOTHING_SEEN: ChainView = {
  head: null,
  conflict: null,
  spread: 0n,
  fees: null,
  tips: [],
  cancellationGas: CANCELLATION_GAS_LIMIT,
  announced: null,
  finality: { safe: -1n, finalized: -1n, readAt: Number.NEGATIVE_INFINITY },
  blockTimes: NO_BLOCK_TIMES,
  answeredAt: null,
  failedPolls: 0,
  headOffMs: null,
  paused: false,
  nearCeiling: false,
};

/** Number of blocks after its broadcast at which a transaction is overdue (see `timeoutBlocks`). */
const OVERDUE_AFTER = 2;
/**
 * If a nonce was used without a receipt for this many heads, nodes are asked, repeatedly, which
 * transaction used it.
 */
const FOREIGN_AFTER = 5;
/** After this many polls of an unreadable result, operators are alerted. Polling continues. */
const UNREADABLE_AFTER = 8;

/**
 * Returns how many blocks take as long as `blocks` blocks of `minBlockMs` each; at least `blocks`.
 * Mempools, providers and lagging nodes are not faster when blocks are.
 */
export function timeoutBlocks({ blockTimes, chain }: Viewer, blocks: number): bigint {
  const intervalMs = blockInterval(blockTimes);
  return blocksLasting(chain.config, { blocks, intervalMs });
}

/** A view, and the settings of its chain. */
type Viewer = ChainView & { readonly chain: Pick<Chain, 'config'> };

/** Returns the number of blocks by which nodes behind one URL usually differ. */
export function usualLag(relayer: Viewer): bigint {
  return timeoutBlocks(relayer, USUAL_LAG);
}
const USUAL_LAG = 3;

/** Returns what this process knows at this head; by default, at the last head that it followed. */
export function nowOf(relayer: Viewer, head: Block | null = relayer.head): Now {
  const { confirmations, confirmationsMs, maxFeePerGasCeiling } = relayer.chain.config;
  // Getters, because handling most observations needs neither fees nor time-outs.
  return {
    ms: performance.now(),
    head,
    get fees() {
      return present(relayer.fees, 'fees: no block was seen yet');
    },
    feeCeiling: maxFeePerGasCeiling,
    finality: relayer.finality,
    depth: { blocks: confirmationsMs > 0 ? 1n : BigInt(confirmations), ms: confirmationsMs },
    get timeouts() {
      return {
        // Add the largest lag seen between nodes.
        overdueBlocks: timeoutBlocks(relayer, OVERDUE_AFTER) + relayer.spread,
        foreignHeads: Number(timeoutBlocks(relayer, FOREIGN_AFTER)),
        unreadablePolls: Number(timeoutBlocks(relayer, UNREADABLE_AFTER)),
      };
    },
  };
}

/**
 * Returns the chain's time: the head's timestamp plus the time since the head was polled, because
 * an idle chain is polled rarely.
 */
export function chainTime(view: Pick<ChainView, 'head' | 'answeredAt'>): Date {
  const head = present(view.head, 'head: no block was seen yet');
  const { answeredAt } = view;
  const sinceMs = answeredAt === null ? 0 : performance.now() - answeredAt;
  return new Date(head.time.getTime() + sinceMs);
}

/**
 * Estimates the current height from the block interval, because the last known head may be old. A
 * height that is too low would make a transaction overdue too early.
 */
export function heightNow(view: Pick<ChainView, 'head' | 'answeredAt' | 'blockTimes'>): bigint {
  const { answeredAt } = view;
  const known = view.head?.number ?? 0n;
  const intervalMs = blockInterval(view.blockTimes);
  if (intervalMs === null || answeredAt === null) return known;
  return known + BigInt(Math.floor((performance.now() - answeredAt) / intervalMs));
}
