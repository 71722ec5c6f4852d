import { present } from '#core/assert.ts';
import { type BlockTimes, blockInterval, NO_BLOCK_TIMES } from '#settlement/chain/block-times.ts';
import type { Block, Chain } from '#settlement/chain/chain.ts';
import type { Fees } from '#settlement/chain/gas-fees.ts';
import { blocksLasting } from '#settlement/chain/timeout-blocks.ts';
import type { Now } from '#settlement/relayer/machine/transaction.ts';

/** A process's view of the chain. Only `see` (memory.ts) changes it. */
export interface ChainView {
  /** The newest block whose receipts are known. */
  readonly head: Block | null;
  /** A contradiction of the head, and its start (process time); `null` if there is none. */
  readonly conflict: { readonly since: number; readonly polls: number } | null;
  /** The most blocks by which nodes behind one address were seen to differ. */
  readonly spread: bigint;
  /** The fees to offer now; `null` until a block was seen. */
  readonly fees: Fees | null;
  readonly tips: readonly bigint[];
  /** The newest block that a node has announced; `null` if no node announces any. */
  readonly announced: bigint | null;
  /** Blocks up to which the chain is safe and final, read (process time) while that matters. */
  readonly finality: { readonly safe: bigint; readonly finalized: bigint; readonly readAt: number };
  readonly blockTimes: BlockTimes;
  /** Process time of the last answered poll; `null` if there was none. */
  readonly answeredAt: number | null;
  readonly failedPolls: number;
  /** Milliseconds between the head's time and ours at that poll; `null` before it. */
  readonly headOffMs: number | null;
  readonly paused: boolean;
  /** True if most of the hourly ceiling is used, so that it may soon be reached. */
  readonly nearCeiling: boolean;
}

export const NOTHING_SEEN: ChainView = {
  head: null,
  conflict: null,
  spread: 0n,
  fees: null,
  tips: [],
  announced: null,
  finality: { safe: -1n, finalized: -1n, readAt: Number.NEGATIVE_INFINITY },
  blockTimes: NO_BLOCK_TIMES,
  answeredAt: null,
  failedPolls: 0,
  headOffMs: null,
  paused: false,
  nearCeiling: false,
};

/** Blocks after which a broadcast transaction is overdue (see `timeoutBlocks`). */
const OVERDUE_AFTER = 2;
/** Heads without a receipt after which nodes are asked what has used a nonce, again and again. */
const FOREIGN_AFTER = 5;
/** Polls of an unreadable result after which operators are alerted; polling continues. */
const UNREADABLE_AFTER = 8;

/**
 * Returns how many blocks last as long as `blocks` at `minBlockMs` each; never fewer. Pools,
 * providers and nodes that lag take the same time however fast blocks come.
 */
export function timeoutBlocks({ blockTimes, chain }: Viewer, blocks: number): bigint {
  const intervalMs = blockInterval(blockTimes);
  return blocksLasting(chain.config, { blocks, intervalMs });
}

/** A view, and the settings of its chain. */
type Viewer = ChainView & { readonly chain: Pick<Chain, 'config'> };

/** By how many blocks nodes behind one address usually differ, because some lag. */
export function usualLag(relayer: Viewer): bigint {
  return timeoutBlocks(relayer, USUAL_LAG);
}
const USUAL_LAG = 3;

/** Returns what is known at this head, by default at the last one followed. */
export function nowOf(relayer: Viewer, head: Block | null = relayer.head): Now {
  const { confirmations, confirmationsMs, maxFeePerGasCeiling } = relayer.chain.config;
  // Getters, because most observations need neither fees nor time-outs.
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
        // Adds the distance by which nodes were seen to differ.
        overdueBlocks: timeoutBlocks(relayer, OVERDUE_AFTER) + relayer.spread,
        foreignHeads: Number(timeoutBlocks(relayer, FOREIGN_AFTER)),
        unreadablePolls: Number(timeoutBlocks(relayer, UNREADABLE_AFTER)),
      };
    },
  };
}

/** The head's time plus the time since that poll, because an idle chain is polled rarely. */
export function chainTime(view: Pick<ChainView, 'head' | 'answeredAt'>): Date {
  const head = present(view.head, 'head: no block was seen yet');
  const { answeredAt } = view;
  const sinceMs = answeredAt === null ? 0 : performance.now() - answeredAt;
  return new Date(head.time.getTime() + sinceMs);
}

/** Estimates the present height from block times, so that counts do not begin too early. */
export function heightNow(view: Pick<ChainView, 'head' | 'answeredAt' | 'blockTimes'>): bigint {
  const { answeredAt } = view;
  const known = view.head?.number ?? 0n;
  const intervalMs = blockInterval(view.blockTimes);
  if (intervalMs === null || answeredAt === null) return known;
  return known + BigInt(Math.floor((performance.now() - answeredAt) / intervalMs));
}
