import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bug } from '#core/assert.ts';
import { CommitUnknown } from '#db/database.ts';
import { describeError } from '#observability/log.ts';
import { configuredSenders } from '#settlement/chain/fees/configure-senders.ts';
import { blockInterval } from '#settlement/chain/read/block-times.ts';
import { SenderLost } from '#settlement/relayer/jobs/sender-queries.ts';
import { startReporter } from '#settlement/relayer/report-worker-state.ts';
import { startPayments, startUnbatched } from '#settlement/relayer/send/send-loops.ts';
import {
  readCancellationGas,
  readFees,
} from '#settlement/relayer/senders/check-sender-balances.ts';
import { releaseAll, settles, startKeeper } from '#settlement/relayer/senders/keep-senders.ts';
import {
  createState,
  type OnError,
  type RelayerDeps,
  type RelayerState,
} from '#settlement/relayer/state-machine/relayer-state.ts';
import { collectReceipts } from '#settlement/relayer/track/collect-receipts.ts';
import { endDead } from '#settlement/relayer/track/decline-dead-payments.ts';
import { carryOutAll, handleOverdue } from '#settlement/relayer/track/resend-or-replace-overdue.ts';
import { type Change, startHeadWatcher } from '#settlement/relayer/track/watch-heads.ts';
import { watchBlocks } from '#settlement/relayer/track/watch-reorganizations.ts';

export interface Relayer {
  /**
   * Waits for running work to finish and releases the senders. If a process ends without this call,
   * nothing is lost.
   */
  stop(): Promise<void>;
}

/**
 * Processes one network's settlement jobs: claims them, signs, stores and sends transactions, and
 * stores their results. Any number of processes may do this concurrently.
 */
export function startRelayer(deps: RelayerDeps): Relayer {
  const relayer = createState({
    ...deps,
    owner: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    configured: configuredSenders(deps.chain.config),
  });
  const { network } = deps.chain.config;
  // After an error that may have left memory and rows different, drop the senders, so that the
  // keeper reads their rows again. After any other error, memory has everything that was committed.
  const onError: OnError = (name, error) => {
    if (error instanceof SenderLost) relayer.letGo(error.sender);
    const isUncertain = error instanceof CommitUnknown || error instanceof Bug;
    if (isUncertain) relayer.letGo(...relayer.senders.keys());
    relayer.log.error(`the ${name} failed`, { error: describeError(error) });
  };
  const payments = startPayments(relayer, onError);
  const unbatched = startUnbatched(relayer, onError);
  const wake = () => {
    payments.wake();
    unbatched.wake();
  };
  const keeper = startKeeper(relayer, wake, onError);
  const follow = createFollower(relayer, { senders: wake, keeper: keeper.wake });
  const watcher = startHeadWatcher(relayer, follow, onError);
  const reporter = settles(relayer) ? startReporter(relayer, onError) : null;
  const unlisten = deps.wakeups.on('chain-requests', network, wake);
  return {
    stop: async () => {
      unlisten();
      const loops = [payments, unbatched, watcher, keeper, reporter];
      await Promise.all(loops.map((loop) => loop?.stop()));
      await releaseAll(relayer).catch((error) => onError('release of the senders', error));
    },
  };
}

/** Blocks, or polls of an idle chain, between two finality checks. */
const FINALITY_BLOCKS = 8n;
const FINALITY_LOOKS = 4;

/**
 * Upkeep waits this long after a block that decided payments, while results are booked and
 * customers get their answers. Without the pause, customers waited 20 % longer.
 */
const UPKEEP_PAUSE_MS = 60;
/**
 * The pause is at most this share of the block interval, so that the next block is not seen late.
 */
const UPKEEP_PAUSE_SHARE = 1 / 8;

/**
 * Creates a function that follows heads: it reads receipts first, because customers wait for them,
 * and then does the upkeep.
 */
export function createFollower(
  relayer: RelayerState,
  /**
   * Wakes `senders` because some may have become idle, and `keeper` because fees are known, so that
   * it can take senders.
   */
  wake: { readonly senders: () => void; readonly keeper: () => void },
): (change: Change) => Promise<void> {
  const final = { number: -FINALITY_BLOCKS, at: Number.NEGATIVE_INFINITY };
  const finalityMs = relayer.chain.config.idleHeadMs * FINALITY_LOOKS;
  return async ({ kind, block }) => {
    const isReorganized = kind === 'reorganized';
    if (isReorganized) await carryOutAll(relayer.observeAll({ kind: 'reorganized' }));
    const receipts = await collectReceipts(relayer, block);
    relayer.see({ head: block });
    wake.senders();
    const intervalMs = blockInterval(relayer.blockTimes) ?? 0;
    if (receipts > 0) await sleep(Math.min(UPKEEP_PAUSE_MS, intervalMs * UPKEEP_PAUSE_SHARE));
    const first = relayer.fees === null;
    await readFees(relayer, block);
    if (first) wake.keeper();
    // Not awaited: a cancellation never waits for this.
    void readCancellationGas(relayer);
    const isDue =
      block.number - final.number >= FINALITY_BLOCKS && performance.now() - final.at > finalityMs;
    if (isDue) Object.assign(final, { number: block.number, at: performance.now() });
    const watched =
      isReorganized || isDue ? watchBlocks(relayer, block, isReorganized) : Promise.resolve();
    // Handle open transactions even if a node cannot answer for old blocks.
    await Promise.allSettled([watched]);
    await handleOverdue(relayer, block);
    await endDead(relayer, block);
    await watched;
  };
}
