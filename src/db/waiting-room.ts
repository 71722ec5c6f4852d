import { createBatcher } from '#db/batching.ts';
import type { Wakeups } from '#db/wakeups.ts';

export interface WaitLimits {
  /** Milliseconds; 0 reads once. */
  readonly waitMs: number;
  /** Aborts when the client disconnects or the process ends, which ends the wait. */
  readonly gone?: AbortSignal;
}

export interface WaitOptions<T> extends WaitLimits {
  /** True if this state ends the wait. */
  readonly accept: (item: T | undefined) => boolean;
}

/** A long-poll registry for rows of one kind, with thousands of waiting clients. */
export interface WaitingRoom<T> {
  /** Returns the row as soon as it is accepted, or its current state after the time-out. */
  wait(key: string, options: WaitOptions<T>): Promise<T | undefined>;
  /**
   * Calls `look` now, and again whenever the row may have changed. Returns what it finds; undefined
   * after the time-out.
   */
  until<Found>(
    key: string,
    limits: WaitLimits,
    look: () => Promise<Found | undefined>,
  ): Promise<Found | undefined>;
  /** Returns the current row, read in one statement together with other concurrent reads. */
  read(key: string): Promise<T | undefined>;
}

export interface WaitingRoomOptions<T> {
  readonly wakeups: Wakeups;
  /** Notifications on this topic, keyed like the rows, signal that a row may have changed. */
  readonly topic: string;
  /** Reads all keys that are requested at the same time in one statement. */
  readonly read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  /** Polling interval in milliseconds, without notifications. Default {@link POLL_MS}. */
  readonly pollMs?: number;
}

/**
 * All waiting rows are read again at this interval, many per statement, in case a notification got
 * lost.
 */
const POLL_MS = 3_000;
/** Keys per statement: 2,000 waiting terminals are four statements per poll. */
const MAX_KEYS = 500;
const MAX_IN_FLIGHT = 2;

/** Wakes all waiting clients periodically, with a timer only while there are any. */
function createPoll(pollMs: number) {
  const rings = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  return {
    join: (ring: () => void) => {
      rings.add(ring);
      timer ??= setInterval(() => {
        for (const each of rings) each();
      }, pollMs);
      return () => {
        rings.delete(ring);
        if (rings.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

/** Creates a signal that is remembered until the next wait. */
function createBell() {
  let rung = false;
  let wake: () => void = () => {};
  return {
    ring: () => {
      rung = true;
      wake();
    },
    /** Resolves at the next signal, or `ms` later. */
    heard: (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (rung) wake();
      }),
    reset: () => {
      rung = false;
    },
  };
}

export function createWaitingRoom<T>(options: WaitingRoomOptions<T>): WaitingRoom<T> {
  const { wakeups, topic } = options;
  const poll = createPoll(options.pollMs ?? POLL_MS);
  const reader = createBatcher<string, T | undefined>({
    run: async (keys) => {
      const found = await options.read([...new Set(keys)]);
      return keys.map((key) => found.get(key));
    },
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_KEYS,
  });
  const read = (key: string) => reader.add(key);
  const until: WaitingRoom<T>['until'] = async (key, { waitMs, gone }, look) => {
    const deadline = performance.now() + waitMs;
    const bell = createBell();
    // Subscribes before the first read, so that a change in between is signaled.
    const stops = [wakeups.on(topic, key, bell.ring), poll.join(bell.ring)];
    gone?.addEventListener('abort', bell.ring, { once: true });
    try {
      for (;;) {
        bell.reset();
        const found = await look();
        const leftMs = deadline - performance.now();
        if (found !== undefined || leftMs <= 0 || gone?.aborted) return found;
        await bell.heard(leftMs);
      }
    } finally {
      for (const stop of stops) stop();
      gone?.removeEventListener('abort', bell.ring);
    }
  };
  return {
    read,
    until,
    wait: async (key, { accept, ...limits }) => {
      let seen: { readonly item: T | undefined } = { item: undefined };
      await until(key, limits, async () => {
        seen = { item: await read(key) };
        return accept(seen.item) ? seen : undefined;
      });
      return seen.item;
    },
  };
}
