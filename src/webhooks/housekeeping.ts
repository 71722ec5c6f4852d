import { type Loop, startLoop } from '#core/background-loop.ts';
import { addMs } from '#core/clock.ts';
import { HOUR_MS } from '#core/durations.ts';
import type { ProcessContext } from '#db/process-context.ts';
import { maintainPartitions } from '#events/event-retention.ts';
import {
  DISABLE_AFTER_MS,
  type DisabledNotice,
  disableEndpoint,
  type NotifyDisabled,
} from '#webhooks/disable-endpoint.ts';
import { selectLongFailing } from '#webhooks/endpoint-queries.ts';
import { replayStep } from '#webhooks/replay.ts';

type OnError = (name: string, error: unknown) => void;

/** The interval at which long failures are checked; they are measured in days. */
const SWEEP_MS = 60_000;
/** The interval at which partitions are checked; they are created a week ahead. */
const PARTITIONS_MS = HOUR_MS;
/** Delay of the first partition check, because everything else starts in the first minute. */
const FIRST_PARTITIONS_MS = 60_000;
/**
 * The interval at which replays are polled: hints can be lost, and a full queue makes replays wait.
 */
const REPLAY_POLL_MS = 2_000;
const MAX_DISABLED = 100;

/**
 * Disables endpoints that have failed for five days without a success.
 * @returns the notices to their owners.
 */
export async function disableLongFailing(
  { db, clock, wakeups }: ProcessContext,
  tell?: NotifyDisabled,
): Promise<DisabledNotice[]> {
  const now = clock.now();
  const failingBefore = addMs(now, -DISABLE_AFTER_MS);
  const notices: DisabledNotice[] = [];
  for (const endpointId of await selectLongFailing(db, failingBefore, MAX_DISABLED)) {
    const reason = 'persistent_failure';
    const done = await disableEndpoint(db, {
      ...{ endpointId, reason, now, failingBefore },
      ...(tell && { tell }),
    });
    if (done !== null) notices.push(done.notice);
  }
  if (notices.length > 0) wakeups.send('deliveries');
  return notices;
}

function startPartitionLoop({ db, clock, log }: ProcessContext, onError: OnError): Loop {
  let due = false;
  const loop = startLoop({
    name: 'event partitions',
    pollMs: PARTITIONS_MS,
    run: async () => {
      if (!due) return false;
      const done = await maintainPartitions(db, clock.now());
      if (done.dropped.length > 0) log.info('dropped old event partitions', { ...done });
      return false;
    },
    onError,
  });
  const timer = setTimeout(() => {
    due = true;
    loop.wake();
  }, FIRST_PARTITIONS_MS);
  return {
    wake: loop.wake,
    stop: () => {
      clearTimeout(timer);
      return loop.stop();
    },
  };
}

export function startHousekeeping(
  ctx: ProcessContext,
  onError: OnError,
  notifyDisabled?: NotifyDisabled,
): { stop(): Promise<void> } {
  const { db, clock, wakeups } = ctx;
  const replays = startLoop({
    name: 'webhook replays',
    pollMs: REPLAY_POLL_MS,
    run: async () => {
      const { more, deliveries } = await replayStep(db, clock.now());
      if (deliveries > 0) wakeups.send('deliveries');
      return more;
    },
    onError,
  });
  const sweep = startLoop({
    name: 'endpoint check',
    pollMs: SWEEP_MS,
    run: async () => {
      await disableLongFailing(ctx, notifyDisabled);
      return false;
    },
    onError,
  });
  const partitions = startPartitionLoop(ctx, onError);
  const unhear = wakeups.on('webhook-replays', '', replays.wake);
  const loops: readonly Loop[] = [replays, sweep, partitions];
  return {
    stop: async () => {
      unhear();
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
