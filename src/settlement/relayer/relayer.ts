import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Bug } from '#core/assert.ts';
import { describeError } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import { CommitUnknown } from '#db/database.ts';
import { blockInterval } from '#settlement/chain/block-rhythm.ts';
import { finalBlock } from '#settlement/chain/final-block.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/chain/rpc.ts';
import { LANE_ROLES, type LaneRole } from '#settlement/networks.ts';
import { carryOutAll } from '#settlement/relayer/follow/carry-out.ts';
import { endDead } from '#settlement/relayer/follow/end-dead.ts';
import { watchFinality } from '#settlement/relayer/follow/finality.ts';
import { type Change, startHeadWatcher } from '#settlement/relayer/follow/head-watcher.ts';
import { readFees } from '#settlement/relayer/follow/read-fees.ts';
import { collectReceipts } from '#settlement/relayer/follow/receipts.ts';
import { tendLanes } from '#settlement/relayer/follow/resend.ts';
import { watchAnswered } from '#settlement/relayer/follow/watch-answered.ts';
import { checkBalances, createBalanceRound } from '#settlement/relayer/lanes/check-balances.ts';
import { configuredLanes, configureLanes } from '#settlement/relayer/lanes/configure-lanes.ts';
import { watchIdleNonces } from '#settlement/relayer/lanes/idle-nonces.ts';
import { keepLanes, releaseAll, settles } from '#settlement/relayer/lanes/keep-lanes.ts';
import { rereadOpen } from '#settlement/relayer/lanes/load-open.ts';
import { createState } from '#settlement/relayer/machine/memory.ts';
import { takesWork } from '#settlement/relayer/machine/sender.ts';
import type { HeldLane, RelayerDeps, RelayerState } from '#settlement/relayer/machine/state.ts';
import { startReporter } from '#settlement/relayer/report.ts';
import { LaneLost } from '#settlement/relayer/rows/lane-queries.ts';
import { unmined } from '#settlement/relayer/rows/patience.ts';
import { type Flushed, flushPayments } from '#settlement/relayer/send/flush-payments.ts';
import { flushSingles } from '#settlement/relayer/send/flush-singles.ts';
import { MAX_BATCH_PAYMENTS } from '#settlement/relayer/send/gas.ts';
import { flushAt, type LastFlush, NO_FLUSH } from '#settlement/relayer/send/gather.ts';

export interface Relayer {
  /** Requests may be waiting. */
  wake(): void;
  /** Finishes what is running and gives the lanes back. Nothing is lost when it is not called. */
  stop(): Promise<void>;
}

/** Nodes are sure to keep about 16 transactions of one sender. */
const MAX_OPEN_PER_LANE = 16;
/** How often rows are looked for when no wake-up came. */
const REQUEST_POLL_MS = 1_000;
/** After a look that found no refunds and the like, none follows for this long. */
const SINGLES_MS = 50;
/** A renewal may fail a few times before the lease runs out. */
const RENEWALS_PER_LEASE = 4;
/** How soon we notice that a lane at work runs dry. */
const BALANCES_MS = 10_000;
/** How long we may miss that a crash of the database has undone the commit of an outcome. */
const REREAD_MS = 3_000;
/** Between two looks at what is final: so many blocks, and so many looks at an idle chain. */
const FINALITY_BLOCKS = 8n;
const FINALITY_LOOKS = 4;

/**
 * Works one network's requests in this process: claims them, signs and stores transactions, sends
 * them, and writes back their outcomes. Any number of processes may do so at once.
 */
export function startRelayer(deps: RelayerDeps): Relayer {
  const relayer = createState({
    ...deps,
    owner: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    configured: configuredLanes(deps.chain.config),
    pollNow: () => watcher.pollNow(),
  });
  const { network } = deps.chain.config;
  const onError = (name: string, error: unknown) => {
    if (error instanceof LaneLost) relayer.letGo(error.lane);
    // What this process remembers may differ from what is stored: start again from the rows.
    const isUncertain = error instanceof CommitUnknown || error instanceof Bug;
    if (isUncertain) relayer.letGo(...relayer.lanes.keys());
    deps.log.error(`the ${name} failed`, { network, error: describeError(error) });
  };
  const sender = startSender(relayer, onError);
  const singles = startSingles(relayer, onError);
  const wake = () => {
    sender.wake();
    singles.wake();
  };
  const keeper = startKeeper(relayer, wake, onError);
  const follow = createFollower(relayer, { senders: wake, keeper: keeper.wake });
  const watcher = startHeadWatcher(relayer, follow, onError);
  const reporter = settles(relayer) ? startReporter(relayer, onError) : null;
  const unlisten = deps.wakeups.on('chain-requests', network, wake);
  return {
    wake,
    stop: async () => {
      unlisten();
      const loops = [sender, singles, watcher, keeper, reporter];
      await Promise.all(loops.map((loop) => loop?.stop()));
      await releaseAll(relayer).catch((error) => onError('release of the lanes', error));
    },
  };
}

type OnError = (name: string, error: unknown) => void;

/** Flushes at once while a lane is idle; otherwise payments gather (see gather.ts). */
function startSender(relayer: RelayerState, onError: OnError): Loop {
  const name = 'relayer sender';
  let last: LastFlush = NO_FLUSH;
  /** Lanes whose last broadcast has no answer yet: a second one could overtake it. */
  const sending = new Map<HeldLane, Promise<void>>();
  const alarm = createAlarm(() => loop.wake());
  let waitsForLane = false;
  const follow = async (lane: HeldLane, flushed: Flushed, at: number) => {
    try {
      await guarded(relayer, lane, () => flushed.sent);
      last = { ...last, tookMs: performance.now() - at };
    } catch (error) {
      onError(name, error);
    }
    sending.delete(lane);
    if (waitsForLane) loop.wake();
  };
  const loop: Loop = startLoop({
    name,
    pollMs: REQUEST_POLL_MS,
    onError,
    run: async () => {
      const lane = pickLane(relayer, 'operator', sending);
      waitsForLane = lane === null;
      if (lane === null || relayer.fees === null) return false;
      const at = performance.now();
      const { settleEveryMs } = relayer.chain.config;
      const dueAt = unmined(lane.open) === 0 ? at : flushAt(last, relayer.rhythm, at);
      const waitMs = Math.max(dueAt, last.at + settleEveryMs) - at;
      if (waitMs > 0) {
        alarm.set(waitMs);
        return false;
      }
      const flushed = await guarded(relayer, lane, () => flushPayments(relayer, lane));
      const { payments } = flushed;
      last = { at, payments, gatheredMs: at - last.at, tookMs: last.tookMs };
      if (payments > 0) sending.set(lane, follow(lane, flushed, at));
      return payments === MAX_BATCH_PAYMENTS;
    },
  });
  const stop = async () => {
    await loop.stop();
    await Promise.all(sending.values());
  };
  return { wake: loop.wake, stop };
}

/** Refunds and the like: every wake-up of a busy counter would be a query for nothing here. */
function startSingles(relayer: RelayerState, onError: OnError): Loop {
  let lookedAt = Number.NEGATIVE_INFINITY;
  const alarm = createAlarm(() => loop.wake());
  const loop: Loop = startLoop({
    name: 'relayer singles',
    pollMs: REQUEST_POLL_MS,
    onError,
    run: async () => {
      const waitMs = lookedAt + SINGLES_MS - performance.now();
      if (waitMs > 0) {
        alarm.set(waitMs);
        return false;
      }
      const sent = await flushOthers(relayer);
      lookedAt = sent > 0 ? Number.NEGATIVE_INFINITY : performance.now();
      return sent > 0;
    },
  });
  return loop;
}

/** There is at most one timer at a time. */
function createAlarm(ring: () => void): { set(ms: number): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    set: (ms) => {
      clearTimeout(timer);
      timer = setTimeout(ring, ms).unref();
    },
  };
}

async function flushOthers(relayer: RelayerState): Promise<number> {
  if (relayer.fees === null) return 0;
  let count = 0;
  for (const role of LANE_ROLES) {
    const lane = pickLane(relayer, role);
    if (lane !== null) count += await guarded(relayer, lane, () => flushSingles(relayer, lane));
  }
  return count;
}

/** The held lane with the least under way, or null when all are full or not to be used. */
function pickLane(
  relayer: RelayerState,
  role: LaneRole,
  except: ReadonlyMap<HeldLane, unknown> = new Map(),
): HeldLane | null {
  const ready = [...relayer.lanes.values()].filter(
    (lane) =>
      lane.role === role &&
      takesWork(lane.status) &&
      unmined(lane.open) < MAX_OPEN_PER_LANE &&
      !except.has(lane),
  );
  return ready.sort((a, b) => unmined(a.open) - unmined(b.open) || a.lane - b.lane)[0] ?? null;
}

/**
 * After a fault of the database it is unknown whether the flush was committed, so what this process
 * remembers of the lane is dropped; the keeper reads the lane from its rows again.
 */
async function guarded<T>(
  relayer: RelayerState,
  lane: HeldLane,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const certain = error instanceof RpcUnavailable || error instanceof RpcRefusal;
    if (!certain) relayer.letGo(lane.lane);
    throw error;
  }
}

interface WakeOthers {
  /** Lanes may have become idle. */
  readonly senders: () => void;
  /** Fees are known now, so lanes can be taken. */
  readonly keeper: () => void;
}

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

/** Receipts first, because somebody waits for them; then upkeep. */
function createFollower(
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

function startKeeper(relayer: RelayerState, wake: () => void, onError: OnError): Loop {
  let configured = false;
  let balancesDueAt = 0;
  let rereadDueAt = 0;
  const balances = createBalanceRound(relayer);
  return startLoop({
    name: 'relayer keeper',
    pollMs: relayer.leaseMs / RENEWALS_PER_LEASE,
    onError,
    run: async () => {
      if (!configured) await configureLanes(relayer);
      configured = true;
      if (relayer.fees === null) return false;
      const before = relayer.lanes.size;
      await keepLanes(relayer);
      const grown = relayer.lanes.size > before;
      if (grown) wake();
      if (grown || performance.now() > balancesDueAt) {
        balancesDueAt = performance.now() + BALANCES_MS;
        const lanes = grown ? [...relayer.lanes.values()] : balances.due();
        await checkBalances(relayer, lanes);
        // Those that were just taken have been looked at.
        if (!grown) await watchIdleNonces(relayer, lanes);
      }
      if (performance.now() > rereadDueAt) {
        rereadDueAt = performance.now() + REREAD_MS;
        await rereadOpen(relayer);
      }
      return false;
    },
  });
}
