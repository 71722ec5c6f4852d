import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { describeError } from '#core/log.ts';
import { type Loop, startLoop } from '#core/loop.ts';
import { watchFinality } from '#settlement/finality.ts';
import { flushPayments, LaneLost } from '#settlement/flush-payments.ts';
import { flushSingles } from '#settlement/flush-singles.ts';
import { MAX_BATCH_PAYMENTS } from '#settlement/gas.ts';
import { configureLanes, keepLanes, releaseAll } from '#settlement/lanes.ts';
import type { LaneRole } from '#settlement/networks.ts';
import {
  type HeldLane,
  LEASE_MS,
  type RelayerDeps,
  type RelayerState,
} from '#settlement/relayer-state.ts';
import { RpcRefusal, RpcUnavailable } from '#settlement/rpc.ts';
import { tendLanes } from '#settlement/stuck.ts';
import { collectReceipts, readFees, readHead } from '#settlement/watch.ts';

export interface Relayer {
  /** Requests may be waiting. */
  wake(): void;
  /** Finishes what runs and gives the lanes back. Nothing is lost when it is not called. */
  stop(): Promise<void>;
}

/** While no lane is idle, payments gather this long, so that blocks hold few, large batches. */
const GATHER_MS = 40;
/** Nodes keep some 16 transactions of one sender for sure. */
const MAX_OPEN_PER_LANE = 16;
/** How often rows are looked for when no wake-up came. */
const REQUEST_POLL_MS = 1_000;
/** With nothing under way the head is only needed for fees and for noticing reorganisations. */
const IDLE_HEAD_MS = 1_000;
/** A renewal may fail a few times before the lease runs out. */
const RENEWALS_PER_LEASE = 4;
/** Blocks between two looks at what is final. */
const FINALITY_BLOCKS = 8n;

/**
 * Works one network's requests in this process: claims them, signs and stores transactions, sends
 * them, and writes back what the chain made of them. Any number of processes may do so at once.
 */
export function startRelayer(deps: RelayerDeps): Relayer {
  const relayer: RelayerState = {
    leaseMs: LEASE_MS,
    ...deps,
    owner: `${hostname()}:${process.pid}:${randomBytes(4).toString('hex')}`,
    lanes: new Map(),
    head: null,
    fees: null,
    recheckAll: true,
    deferred: new Map(),
  };
  const { network } = deps.chain.config;
  const onError = (name: string, error: unknown) => {
    if (error instanceof LaneLost) relayer.lanes.delete(error.lane);
    deps.log.error(`the ${name} failed`, { network, error: describeError(error) });
  };
  const sender = startSender(relayer, onError);
  const keeper = startKeeper(relayer, sender, onError);
  const watcher = startWatcher(relayer, { sender, keeper }, onError);
  const unlisten = deps.wakeups.on('chain-requests', network, sender.wake);
  return {
    wake: sender.wake,
    stop: async () => {
      unlisten();
      await Promise.all([sender.stop(), watcher.stop(), keeper.stop()]);
      await releaseAll(relayer).catch((error) => onError('release of the lanes', error));
    },
  };
}

type OnError = (name: string, error: unknown) => void;

/** Flushes at once while a lane is idle; otherwise gathers for GATHER_MS or a full batch. */
function startSender(relayer: RelayerState, onError: OnError): Loop {
  let lastFlushAt = 0;
  const loop: Loop = startLoop({
    name: 'relayer sender',
    pollMs: REQUEST_POLL_MS,
    onError,
    run: async () => {
      const lane = pickLane(relayer, 'operator');
      if (lane === null || relayer.fees === null) return false;
      const waitMs = lane.open.size === 0 ? 0 : lastFlushAt + GATHER_MS - performance.now();
      if (waitMs > 0) {
        setTimeout(loop.wake, waitMs);
        return false;
      }
      lastFlushAt = performance.now();
      const sent = await guarded(relayer, lane, () => flushPayments(relayer, lane));
      const singles = await flushOthers(relayer);
      return sent === MAX_BATCH_PAYMENTS || singles > 0;
    },
  });
  return loop;
}

async function flushOthers(relayer: RelayerState): Promise<number> {
  let count = 0;
  for (const role of ['operator', 'registrar'] as const) {
    const lane = pickLane(relayer, role);
    if (lane !== null) count += await guarded(relayer, lane, () => flushSingles(relayer, lane));
  }
  return count;
}

/** The held lane with the least under way, or null when all are full. */
function pickLane(relayer: RelayerState, role: LaneRole): HeldLane | null {
  const ready = [...relayer.lanes.values()].filter(
    (lane) => lane.role === role && !lane.draining && lane.open.size < MAX_OPEN_PER_LANE,
  );
  return ready.sort((a, b) => a.open.size - b.open.size || a.lane - b.lane)[0] ?? null;
}

/**
 * After a fault of the database it is unknown whether the flush was committed, so what this process
 * remembers of the lane is dropped; the keeper takes the lane up again from its rows.
 */
async function guarded(
  relayer: RelayerState,
  lane: HeldLane,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    const certain = error instanceof RpcUnavailable || error instanceof RpcRefusal;
    if (!certain) relayer.lanes.delete(lane.lane);
    throw error;
  }
}

/** Follows the head: receipts first, because somebody waits for them; then upkeep. */
function startWatcher(
  relayer: RelayerState,
  { sender, keeper }: { readonly sender: Loop; readonly keeper: Loop },
  onError: OnError,
): Loop {
  let lastLookAt = 0;
  let finalityAt = 0n;
  return startLoop({
    name: 'relayer watcher',
    pollMs: relayer.chain.config.headPollMs,
    onError,
    run: async () => {
      const now = performance.now();
      if (isIdle(relayer) && now - lastLookAt < IDLE_HEAD_MS) return false;
      lastLookAt = now;
      const change = await readHead(relayer);
      if (change.kind === 'none') return false;
      const { block } = change;
      if (change.kind === 'reorganised') relayer.recheckAll = true;
      await collectReceipts(relayer, block);
      relayer.head = block;
      sender.wake();
      const first = relayer.fees === null;
      await readFees(relayer, block);
      if (first) keeper.wake();
      if (change.kind === 'reorganised' || block.number >= finalityAt + FINALITY_BLOCKS) {
        await watchFinality(relayer, block);
        finalityAt = block.number;
      }
      await tendLanes(relayer, block);
      return false;
    },
  });
}

function isIdle(relayer: RelayerState): boolean {
  return relayer.fees !== null && [...relayer.lanes.values()].every((lane) => lane.open.size === 0);
}

function startKeeper(relayer: RelayerState, sender: Loop, onError: OnError): Loop {
  let configured = false;
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
      if (relayer.lanes.size > before) sender.wake();
      return false;
    },
  });
}
