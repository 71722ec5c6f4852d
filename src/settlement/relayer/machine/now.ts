import { blockInterval } from '#settlement/chain/block-rhythm.ts';
import type { Block } from '#settlement/chain/chain.ts';
import { blocksLasting } from '#settlement/chain/patient-blocks.ts';
import { suggestFees } from '#settlement/relayer/machine/fees.ts';
import type { Now, Timeouts } from '#settlement/relayer/machine/observation.ts';
import type { RelayerState } from '#settlement/relayer/machine/state.ts';
import type { Fees } from '#settlement/relayer/machine/transaction.ts';

/** A transaction that was sent is overdue after so many blocks (see `patientBlocks`). */
const OVERDUE_AFTER = 2;
/** Heads after which nodes are asked for what has used a nonce, again and again. */
const FOREIGN_AFTER = 5;
/** Polls of a result that cannot be read after which operators are alerted; they go on. */
const UNREADABLE_AFTER = 8;

type Seen = Pick<RelayerState, 'rhythm' | 'chain'>;

/**
 * How many blocks last as long as so many do where one takes `patienceMs`; never fewer. What is
 * waited for (pools, providers, nodes that lag) takes the same time however fast blocks come.
 */
export function patientBlocks({ rhythm, chain }: Seen, blocks: number): bigint {
  const intervalMs = blockInterval(rhythm);
  return blocksLasting(chain.config, { blocks, intervalMs });
}

/** What to offer now; before the first block as if there were no tips. */
export function feesNow({
  fees,
  head,
  chain,
}: Pick<RelayerState, 'fees' | 'head' | 'chain'>): Fees {
  const { maxFeePerGasCeiling: ceiling, profile } = chain.config;
  const { highestTip } = profile;
  const baseFeePerGas = head?.baseFeePerGas ?? 0n;
  return fees ?? suggestFees({ baseFeePerGas, recentTips: [], ceiling, highestTip });
}

export type NowSource = Pick<
  RelayerState,
  'chain' | 'head' | 'fees' | 'marks' | 'rhythm' | 'spread'
>;

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
      return timeoutsOf(relayer);
    },
  };
}

function timeoutsOf(relayer: NowSource): Timeouts {
  return {
    // Nodes that were seen to differ get so much longer.
    overdueBlocks: patientBlocks(relayer, OVERDUE_AFTER) + relayer.spread,
    foreignHeads: Number(patientBlocks(relayer, FOREIGN_AFTER)),
    unreadablePolls: Number(patientBlocks(relayer, UNREADABLE_AFTER)),
  };
}
