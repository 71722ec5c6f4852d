import { type Loop, startLoop } from '#core/loop.ts';
import { type BlockTimes, blockInterval, nextBlockAt } from '#settlement/chain/block-times.ts';
import { SENDER_ROLES, type SenderRole } from '#settlement/networks.ts';
import { MAX_BATCH_PAYMENTS } from '#settlement/relayer/send/plan-batches.ts';
import { sendPayments, sendUnbatched } from '#settlement/relayer/send/send-jobs.ts';
import type {
  HeldSender,
  OnError,
  RelayerState,
} from '#settlement/relayer/state-machine/relayer-state.ts';
import { takesWork } from '#settlement/relayer/state-machine/sender-status.ts';
import { unmined } from '#settlement/relayer/state-machine/transaction.ts';

/** Interval at which rows are read if no wake-up arrives. */
const REQUEST_POLL_MS = 1_000;

/** Nodes reliably keep about this many transactions per sender. */
const MAX_OPEN_PER_SENDER = 16;

/** Pause after a query that found no job to send alone. */
const UNBATCHED_MS = 50;

/**
 * Sends payments: immediately while a sender is idle, otherwise at the time of {@link batchDueAt}.
 */
export function startPayments(relayer: RelayerState, onError: OnError): Loop {
  const name = 'relayer sender';
  let last: LastBatch = NO_BATCH;
  /**
   * Senders whose last broadcast is not answered yet. They must not send, because a second
   * broadcast could overtake it.
   */
  const sending = new Map<HeldSender, Promise<void>>();
  let waitsForSender = false;
  const follow = async (sender: HeldSender, sent: Promise<void>, at: number) => {
    try {
      await sent;
      last = { ...last, tookMs: performance.now() - at };
    } catch (error) {
      onError(name, error);
    }
    sending.delete(sender);
    if (waitsForSender) loop.wake();
  };
  const loop: Loop = startLoop({
    name,
    pollMs: REQUEST_POLL_MS,
    onError,
    run: async () => {
      const sender = pickSender(relayer, 'operator', sending);
      waitsForSender = sender === null;
      if (sender === null || relayer.fees === null) return false;
      const at = performance.now();
      const { settleEveryMs } = relayer.chain.config;
      const dueAt = unmined(sender.open) === 0 ? at : batchDueAt(last, relayer.blockTimes, at);
      const waitMs = Math.max(dueAt, last.at + settleEveryMs) - at;
      if (waitMs > 0) return waitMs;
      const { payments, sent } = await sendPayments(sender);
      last = { at, payments, delayMs: at - last.at, tookMs: last.tookMs };
      if (payments > 0) sending.set(sender, follow(sender, sent, at));
      return payments === MAX_BATCH_PAYMENTS;
    },
  });
  const stop = async () => {
    await loop.stop();
    await Promise.all(sending.values());
  };
  return { wake: loop.wake, stop };
}

/**
 * Sends refunds and similar jobs. Its runs have a minimum interval, because at a busy counter every
 * wake-up would cost a query that finds nothing.
 */
export function startUnbatched(relayer: RelayerState, onError: OnError): Loop {
  let lookedAt = NEVER;
  return startLoop({
    name: 'relayer unbatched jobs',
    pollMs: REQUEST_POLL_MS,
    onError,
    run: async () => {
      const waitMs = lookedAt + UNBATCHED_MS - performance.now();
      if (waitMs > 0) return waitMs;
      let sent = 0;
      for (const role of relayer.fees === null ? [] : SENDER_ROLES) {
        const sender = pickSender(relayer, role);
        if (sender === null) continue;
        sent += await sendUnbatched(sender);
        if (!sender.signsElsewhere) continue;
        // Deployments are left to a sender whose key this process holds.
        const own = pickSender(relayer, role, sendersElsewhere(relayer));
        if (own !== null) sent += await sendUnbatched(own);
      }
      lookedAt = sent > 0 ? NEVER : performance.now();
      return sent > 0;
    },
  });
}

function sendersElsewhere(relayer: RelayerState): ReadonlyMap<HeldSender, unknown> {
  const all = [...relayer.senders.values()].filter(({ signsElsewhere }) => signsElsewhere);
  return new Map(all.map((sender) => [sender, sender.address]));
}

/** Returns the sender with the fewest open transactions; `null` if none can take work. */
function pickSender(
  relayer: RelayerState,
  role: SenderRole,
  except: ReadonlyMap<HeldSender, unknown> = new Map(),
): HeldSender | null {
  const ready = [...relayer.senders.values()].filter(
    (sender) =>
      sender.role === role &&
      takesWork(sender.status) &&
      unmined(sender.open) < MAX_OPEN_PER_SENDER &&
      !except.has(sender),
  );
  return ready.sort((a, b) => unmined(a.open) - unmined(b.open) || a.sender - b.sender)[0] ?? null;
}

/** The last batch, which shows the current load. Times are in milliseconds, from any origin. */
export interface LastBatch {
  readonly at: number;
  readonly payments: number;
  /** How long the batch's payments were delayed. */
  readonly delayMs: number;
  /** Time from claiming the payments to the node's answer. */
  readonly tookMs: number;
}

const NEVER = Number.NEGATIVE_INFINITY;
export const NO_BATCH: LastBatch = { at: NEVER, payments: 0, delayMs: 0, tookMs: 0 };

/**
 * The batching delay. Short, because customers wait, but long enough that a block contains few
 * batches.
 */
const BATCHING_DELAY_MS = 40;
/**
 * The delay is at most this share of the block interval: on a fast chain, a delay of 40 ms would
 * make payments miss many of the blocks, which are 200 ms apart.
 */
const BATCHING_DELAY_SHARE = 1 / 10;
/** A batch is sent earlier than its block by this time plus twice the time that sending takes. */
const MARGIN_MS = 80;

/**
 * Returns when to send payments that wait while every sender is busy. Sending early gains nothing,
 * because a batch waits for its block anyway, and large batches cost a third of the gas per
 * payment. If block times are steady, payments wait until shortly before the block, or until a
 * batch is probably three quarters full; otherwise for BATCHING_DELAY_MS, or less on a fast chain.
 */
export function batchDueAt(last: LastBatch, blockTimes: BlockTimes, now: number): number {
  const intervalMs = blockInterval(blockTimes) ?? Number.POSITIVE_INFINITY;
  const soon = last.at + Math.min(BATCHING_DELAY_MS, intervalMs * BATCHING_DELAY_SHARE);
  const block = nextBlockAt(blockTimes, now);
  if (block === null) return soon;
  const latest = block - MARGIN_MS - 2 * last.tookMs;
  if (latest <= now) return soon;
  return Math.max(soon, Math.min(latest, last.at + fullAfterMs(last)));
}

/**
 * Returns the time in which a batch becomes three quarters full, in milliseconds after the last
 * batch. Not completely full, so that a growing load leaves no payments behind.
 */
function fullAfterMs({ payments, delayMs }: LastBatch): number {
  if (payments === 0 || delayMs <= 0) return Number.POSITIVE_INFINITY;
  return ((MAX_BATCH_PAYMENTS * 0.75) / payments) * delayMs;
}
