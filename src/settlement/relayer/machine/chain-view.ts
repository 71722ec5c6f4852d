import { assertNever, present } from '#core/assert.ts';
import {
  type BlockRhythm,
  blockInterval,
  NO_RHYTHM,
  withArrival,
  withLook,
} from '#settlement/chain/block-rhythm.ts';
import type { Block, Chain } from '#settlement/chain/chain.ts';
import type { ToldHead } from '#settlement/chain/heads.ts';
import { blocksLasting } from '#settlement/chain/timeout-blocks.ts';
import { suggestFees } from '#settlement/relayer/machine/fees.ts';
import type { Fees, Now } from '#settlement/relayer/machine/transaction.ts';

/** What one process knows of the chain. Immutable; {@link seeChain} maps it to the next one. */
export interface ChainView {
  /** The newest block that was followed: its receipts are known. */
  readonly head: Block | null;
  /** Something contradicts the head; `null` if nothing does. */
  readonly conflict: HeadConflict | null;
  /**
   * By how many blocks nodes behind one address were seen to differ: a block that lags is not lost.
   */
  readonly spread: bigint;
  /** What to offer now; `null` until a block was seen. */
  readonly fees: Fees | null;
  /** The tips of recent blocks, as far as a node has said so. */
  readonly tips: readonly bigint[];
  /** The newest block that a node has announced; `null` if none does. */
  readonly announced: bigint | null;
  /** Blocks up to which the chain is safe and final, read (process time) while that matters. */
  readonly marks: { readonly safe: bigint; readonly finalized: bigint; readonly readAt: number };
  /** When to expect the next block. */
  readonly rhythm: BlockRhythm;
  /** Process time of the last poll that was answered; `null` if none was. */
  readonly answeredAt: number | null;
  readonly failedPolls: number;
  /** Milliseconds between the head's time and ours at that poll; `null` without a poll. */
  readonly headOffMs: number | null;
  /** The contract settles nothing at present. */
  readonly paused: boolean;
  /** Much of this hour is used: its end may be near. */
  readonly nearCeiling: boolean;
  /** The subjects of the last alarms about what an hour allows. */
  readonly alerts: { readonly [Kind in HourlyAlarm]?: string };
}

/** Something that contradicts the known head, and since when (process time). */
export interface HeadConflict {
  readonly since: number;
  readonly polls: number;
}

export type HourlyAlarm = 'ceiling_near' | 'outflow_near';

type ReadValues = Pick<ChainView, 'tips' | 'fees' | 'marks' | 'paused' | 'nearCeiling'>;

export type ChainObservation =
  | {
      readonly kind: 'polled';
      readonly block: Pick<Block, 'number' | 'time'>;
      readonly at: number;
      readonly clockMs: number;
    }
  | { readonly kind: 'poll_failed' }
  | { readonly kind: 'announced'; readonly head: ToldHead; readonly at: number }
  | { readonly kind: 'followed'; readonly block: Block }
  | { readonly kind: 'contradicted'; readonly at: number }
  | { readonly kind: 'agreed' }
  | { readonly kind: 'lagged'; readonly blocks: bigint; readonly most: bigint }
  /** Read from a node, together or apart. */
  | { readonly kind: 'read'; readonly values: Partial<ReadValues> }
  | { readonly kind: 'alerted'; readonly about: HourlyAlarm; readonly subject: string };

export const NOTHING_SEEN: ChainView = {
  head: null,
  conflict: null,
  spread: 0n,
  fees: null,
  tips: [],
  announced: null,
  marks: { safe: -1n, finalized: -1n, readAt: Number.NEGATIVE_INFINITY },
  rhythm: NO_RHYTHM,
  answeredAt: null,
  failedPolls: 0,
  headOffMs: null,
  paused: false,
  nearCeiling: false,
  alerts: {},
};

export function seeChain(view: ChainView, observation: ChainObservation): ChainView {
  switch (observation.kind) {
    case 'polled': {
      const { block, at, clockMs } = observation;
      const time = block.time.getTime();
      const rhythm = withLook(view.rhythm, { number: block.number, time, at });
      return { ...view, rhythm, failedPolls: 0, answeredAt: at, headOffMs: clockMs - time };
    }
    case 'poll_failed':
      return { ...view, failedPolls: view.failedPolls + 1 };
    case 'announced': {
      const { head, at } = observation;
      const rhythm = withArrival(view.rhythm, { ...head, at });
      return { ...view, announced: head.number, rhythm };
    }
    case 'followed':
      return { ...view, head: observation.block };
    case 'contradicted': {
      const { since, polls } = view.conflict ?? { since: observation.at, polls: 0 };
      return { ...view, conflict: { since, polls: polls + 1 } };
    }
    case 'agreed':
      return { ...view, conflict: null };
    case 'lagged': {
      const { blocks, most } = observation;
      return { ...view, spread: blocks > view.spread && blocks <= most ? blocks : view.spread };
    }
    case 'read':
      return { ...view, ...observation.values };
    case 'alerted': {
      const { about, subject } = observation;
      return { ...view, alerts: { ...view.alerts, [about]: subject } };
    }
    default:
      return assertNever(observation);
  }
}

/** A transaction that was sent is overdue after so many blocks (see `timeoutBlocks`). */
const OVERDUE_AFTER = 2;
/** Heads after which nodes are asked for what has used a nonce, again and again. */
const FOREIGN_AFTER = 5;
/** Polls of a result that cannot be read after which operators are alerted; they go on. */
const UNREADABLE_AFTER = 8;

/**
 * How many blocks last as long as so many do where one takes `minBlockMs`; never fewer. What is
 * waited for (pools, providers, nodes that lag) takes the same time however fast blocks come.
 */
export function timeoutBlocks(
  { rhythm, chain }: Pick<NowSource, 'rhythm' | 'chain'>,
  blocks: number,
): bigint {
  const intervalMs = blockInterval(rhythm);
  return blocksLasting(chain.config, { blocks, intervalMs });
}

/** What to offer now; before the first block as if there were no tips. */
export function feesNow({ fees, head, chain }: Pick<NowSource, 'fees' | 'head' | 'chain'>): Fees {
  const { maxFeePerGasCeiling: ceiling, profile } = chain.config;
  const { highestTip } = profile;
  const baseFeePerGas = head?.baseFeePerGas ?? 0n;
  return fees ?? suggestFees({ baseFeePerGas, recentTips: [], ceiling, highestTip });
}

export interface NowSource extends ChainView {
  readonly chain: Pick<Chain, 'config'>;
}

/** What is known at this head, or at the one that was followed last. */
export function nowOf(relayer: NowSource, head: Block | null = relayer.head): Now {
  const { confirmations, confirmationsMs, maxFeePerGasCeiling } = relayer.chain.config;
  return {
    ms: performance.now(),
    head,
    fees: feesNow(relayer),
    feeCeiling: maxFeePerGasCeiling,
    marks: relayer.marks,
    depth: {
      blocks: confirmationsMs > 0 ? 1n : BigInt(confirmations),
      ms: confirmationsMs,
    },
    // Computed where they are asked for: most observations need none.
    get timeouts() {
      return {
        // Nodes that were seen to differ get so much longer.
        overdueBlocks: timeoutBlocks(relayer, OVERDUE_AFTER) + relayer.spread,
        foreignHeads: Number(timeoutBlocks(relayer, FOREIGN_AFTER)),
        unreadablePolls: Number(timeoutBlocks(relayer, UNREADABLE_AFTER)),
      };
    },
  };
}

/** The head's time, plus the time since that look: an idle chain is looked at rarely. */
export function chainTime(view: Pick<ChainView, 'head' | 'answeredAt'>): Date {
  const head = present(view.head, 'head: no block was seen yet');
  const { answeredAt } = view;
  const sinceMs = answeredAt === null ? 0 : performance.now() - answeredAt;
  return new Date(head.time.getTime() + sinceMs);
}

/**
 * Where the chain should be by now, by its rhythm, so that counts from there do not begin too
 * early.
 */
export function heightNow(view: Pick<ChainView, 'head' | 'answeredAt' | 'rhythm'>): bigint {
  const { head, answeredAt, rhythm } = view;
  const known = head?.number ?? 0n;
  const intervalMs = blockInterval(rhythm);
  if (intervalMs === null || answeredAt === null) return known;
  return known + BigInt(Math.floor((performance.now() - answeredAt) / intervalMs));
}
