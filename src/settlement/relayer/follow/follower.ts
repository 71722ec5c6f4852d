import { setTimeout as sleep } from 'node:timers/promises';
import { blockInterval } from '#settlement/chain/block-rhythm.ts';
import { finalBlock } from '#settlement/chain/final-block.ts';
import { endDead } from '#settlement/relayer/follow/end-dead.ts';
import { watchAnswered, watchFinality } from '#settlement/relayer/follow/finality.ts';
import type { Change } from '#settlement/relayer/follow/head-watcher.ts';
import { collectReceipts } from '#settlement/relayer/follow/receipts.ts';
import { carryOutAll, tendLanes } from '#settlement/relayer/follow/tend.ts';
import { readFees } from '#settlement/relayer/lanes/funds.ts';
import type { RelayerState } from '#settlement/relayer/machine/state.ts';

/** Between two looks at what is final: so many blocks, and so many looks at an idle chain. */
const FINALITY_BLOCKS = 8n;
const FINALITY_LOOKS = 4;

/**
 * After a block that decided payments, upkeep waits this long. Meanwhile the outcomes are booked
 * and customers are answered; when upkeep ran beside that, they waited a fifth longer.
 */
const UPKEEP_PAUSE_MS = 60;
/** At most this part of the time between blocks, so that the next block is not seen late. */
const UPKEEP_PAUSE_SHARE = 1 / 8;

function upkeepPauseMs({ rhythm }: RelayerState): number {
  return Math.min(UPKEEP_PAUSE_MS, (blockInterval(rhythm) ?? 0) * UPKEEP_PAUSE_SHARE);
}

interface WakeOthers {
  /** Lanes may have become idle. */
  readonly senders: () => void;
  /** Fees are known now, so lanes can be taken. */
  readonly keeper: () => void;
}

/** Receipts first, because somebody waits for them; then upkeep. */
export function createFollower(
  relayer: RelayerState,
  wake: WakeOthers,
): (change: Change) => Promise<void> {
  const final = { number: -FINALITY_BLOCKS, at: Number.NEGATIVE_INFINITY };
  const finalityMs = relayer.chain.config.idleHeadMs * FINALITY_LOOKS;
  return async ({ kind, block }) => {
    const isReorganized = kind === 'reorganized';
    if (isReorganized) await carryOutAll(relayer, relayer.observeAll({ kind: 'reorganized' }));
    const found = await collectReceipts(relayer, block);
    relayer.see({ kind: 'followed', block });
    wake.senders();
    if (found > 0) await sleep(upkeepPauseMs(relayer));
    const first = relayer.fees === null;
    await readFees(relayer, block);
    if (first) wake.keeper();
    const isDue =
      block.number - final.number >= FINALITY_BLOCKS && performance.now() - final.at > finalityMs;
    if (isDue) {
      Object.assign(final, { number: block.number, at: performance.now() });
    }
    const watched =
      isReorganized || isDue ? watchBlocks(relayer, block, { isReorganized }) : Promise.resolve();
    // If a node cannot answer for old blocks, that must not keep us from tending open transactions.
    await Promise.allSettled([watched]);
    await tendLanes(relayer, block);
    await endDead(relayer, block);
    await watched;
  };
}

async function watchBlocks(
  relayer: RelayerState,
  block: Change['block'],
  look: { readonly isReorganized: boolean },
): Promise<void> {
  let asked: Promise<bigint> | null = null;
  const askFinal = () => {
    asked ??= finalBlock(relayer.chain, block.number);
    return asked;
  };
  await watchFinality(relayer, block, { ...look, askFinal });
  await watchAnswered(relayer, block, { askFinal });
}
