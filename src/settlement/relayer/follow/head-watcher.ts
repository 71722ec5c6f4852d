import { type Loop, startLoop } from '#core/loop.ts';
import { blockInterval, idleLookAt, nextLookAt } from '#settlement/chain/block-rhythm.ts';
import {
  type HeadSubscription,
  headsAdvice,
  subscribeHeads,
  type ToldHead,
} from '#settlement/chain/heads.ts';
import { type HeadChange, noteBlock, readHead } from '#settlement/relayer/follow/read-head.ts';
import type { OnError, RelayerState } from '#settlement/relayer/machine/memory.ts';
import type { OpenTransaction } from '#settlement/relayer/machine/transaction.ts';

export type Change = Exclude<HeadChange, { kind: 'none' }>;

/** With a node that announces blocks: how long its silence is trusted while somebody waits. */
const TOLD_MS = 2_000;
/** How soon we look again after something contradicted our head. */
const DOUBT_LOOK_MS = 120;
/** Without a new block for this long, or for a few intervals, other addresses are asked. */
const STANDS_STILL_MS = 5_000;
const STANDS_STILL_INTERVALS = 3;
/** Heads of all addresses are compared at most this often. */
const COMPARE_MS = 10_000;
/** A head this old is worth a comparison even while it moves. */
const OLD_HEAD_MS = 30_000;

/**
 * Follows the head. While somebody waits it looks around the time that the next block is due, or
 * when a node announces one; with nothing under way it looks rarely, for fees and reorganizations.
 */
export function startHeadWatcher(
  relayer: RelayerState,
  follow: (change: Change) => Promise<void>,
  onError: OnError,
): Loop {
  const { headPollMs, headsUrl } = relayer.chain.config;
  const pace = createPace(relayer);
  const compare = createComparison(relayer, pace);
  let heads: HeadSubscription | null = null;
  const loop = startLoop({
    name: 'relayer watcher',
    pollMs: headPollMs,
    onError,
    run: async () => {
      if (!pace.isDue(heads?.isLive() === true)) return false;
      pace.looked();
      await compare();
      const change = await readHead(relayer);
      if (change.kind === 'none') return false;
      pace.moved();
      await follow(change);
      return false;
    },
  });
  const onHead = (head: ToldHead) => {
    relayer.see({ kind: 'announced', head, at: performance.now() });
    const { clock, recentBlocks } = relayer;
    noteBlock(recentBlocks, { ...head, time: new Date(head.time), seenAt: clock.now() });
    if (pace.told(head)) loop.wake();
  };
  const advice = headsAdvice(relayer.chain.config);
  if (advice !== null) relayer.log.info(advice);
  if (headsUrl !== null) heads = subscribeHeads(headsUrl, onHead, relayer.log);
  return {
    wake: loop.wake,
    stop: () => {
      heads?.stop();
      return loop.stop();
    },
  };
}

type Pace = ReturnType<typeof createPace>;

function createPace(relayer: RelayerState) {
  const { headPollMs, idleHeadMs } = relayer.chain.config;
  let lastLookAt = Number.NEGATIVE_INFINITY;
  let movedAt = performance.now();
  let busySince: number | null = null;
  let isTold = false;
  let lastTold: ToldHead | null = null;
  const dueAt = (isLive: boolean) => {
    if (relayer.conflict !== null) return lastLookAt + DOUBT_LOOK_MS;
    if (busySince === null) return idleLookAt(relayer.rhythm, { lastLookAt, idleMs: idleHeadMs });
    if (isLive) return lastLookAt + TOLD_MS;
    const since = Math.max(movedAt, busySince);
    return nextLookAt(relayer.rhythm, { lastLookAt, since, shortestMs: headPollMs });
  };
  return {
    movedAt: () => movedAt,
    moved: () => {
      movedAt = performance.now();
    },
    looked: () => {
      isTold = false;
      lastLookAt = performance.now();
    },
    isDue: (isLive: boolean) => {
      const now = performance.now();
      if (!isBusy(relayer)) busySince = null;
      else busySince ??= now;
      return isTold || now >= dueAt(isLive);
    },
    /** @returns whether it is worth a look. An idle chain that only grows is not. */
    told: (head: ToldHead) => {
      const goesOn = lastTold === null || lastTold.hash === head.parentHash;
      lastTold = head;
      isTold ||= isBusy(relayer) || !goesOn;
      return isTold;
    },
  };
}

/** Somebody waits for a block, or nothing is known yet. */
function isBusy({ fees, lanes }: RelayerState): boolean {
  const urgent = (transaction: OpenTransaction) =>
    transaction.phase !== 'confirming' || transaction.rule.waitsFor === 'time';
  return fees === null || [...lanes.values()].some(({ open }) => open.values().some(urgent));
}

function createComparison(relayer: RelayerState, pace: Pace): () => Promise<void> {
  let comparedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const now = performance.now();
    if (now - comparedAt < COMPARE_MS) return;
    const intervalMs = blockInterval(relayer.rhythm) ?? 0;
    const patienceMs = Math.max(STANDS_STILL_MS, STANDS_STILL_INTERVALS * intervalMs);
    const standsStill = now - pace.movedAt() > patienceMs + relayer.chain.config.idleHeadMs;
    const isBusyAndStill = isBusy(relayer) && now - pace.movedAt() > patienceMs;
    const isOld = (relayer.sight.headOffMs ?? 0) > OLD_HEAD_MS;
    const isKnown = relayer.chain.rpc.inOrder().some((address) => address.isStale);
    if (!standsStill && !isBusyAndStill && !isOld && !isKnown) return;
    comparedAt = now;
    await relayer.chain.compareHeads();
  };
}
