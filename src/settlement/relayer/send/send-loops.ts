import { type Loop, startLoop } from '#core/background-loop.ts';
import { SENDER_ROLES, type SenderRole } from '#settlement/network-config.ts';
import { batchDueAt, type LastBatch, NO_BATCH } from '#settlement/relayer/send/batching-delay.ts';
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

const NEVER = Number.NEGATIVE_INFINITY;

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
