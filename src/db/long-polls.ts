import { createBatcher } from '#db/batching.ts';
import type { Wakeups } from '#db/wakeups.ts';

export interface WaitLimits {
  /** Milliseconds; 0 reads once. */
  readonly waitMs: number;
  /** Aborts when the client disconnects or the process ends. This ends the wait. */
  readonly gone?: AbortSignal;
}

export interface WaitOptions<T> extends WaitLimits {
  /** True if this state of the row ends the wait. */
  readonly accept: (item: T | undefined) => boolean;
}

/** A long-poll registry for rows of one kind. Thousands of clients may wait. */
export interface LongPolls<T> {
  /** Returns the row as soon as `accept` is true, or in its current state after the time-out. */
  wait(key: string, options: WaitOptions<T>): Promise<T | undefined>;
  /**
   * Calls `look` now, and again whenever the row may have changed, until it returns a result.
   * Returns undefined after the time-out.
   */
  until<Row>(
    key: string,
    limits: WaitLimits,
    look: () => Promise<Row | undefined>,
  ): Promise<Row | undefined>;
  /** Concurrent reads share one statement. */
  read(key: string): Promise<T | undefined>;
}

export interface LongPollsOptions<T> {
  readonly wakeups: Wakeups;
  /** Topic of the notifications that a row may have changed. Their keys are the rows' keys. */
  readonly topic: string;
  /** Reads the rows of all these keys in one statement. */
  readonly read: (keys: readonly string[]) => Promise<ReadonlyMap<string, T>>;
  /** Polling interval in milliseconds, in case notifications are lost. Default: {@link POLL_MS}. */
  readonly pollMs?: number;
}

/**
 * Interval at which all waiting rows are read again, many per statement, in case a notification was
 * lost.
 */
const POLL_MS = 3_000;
/**
 * Maximum number of keys per statement. For 2,000 waiting terminals, a poll takes four statements.
 */
const MAX_KEYS = 500;
const MAX_IN_FLIGHT = 2;

/** The timer runs only while clients are waiting. */
function createPoll(pollMs: number) {
  const wakes = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  return {
    join: (wake: () => void) => {
      wakes.add(wake);
      timer ??= setInterval(() => {
        for (const each of wakes) each();
      }, pollMs);
      return () => {
        wakes.delete(wake);
        if (wakes.size > 0) return;
        clearInterval(timer);
        timer = undefined;
      };
    },
  };
}

/** If it is raised while nothing waits, the next wait ends immediately. */
function createSignal() {
  let isRaised = false;
  let wake: () => void = () => {};
  return {
    raise: () => {
      isRaised = true;
      wake();
    },
    /** Resolves when the signal is raised, at the latest after `ms`. */
    raised: (ms: number) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        if (isRaised) wake();
      }),
    reset: () => {
      isRaised = false;
    },
  };
}

export function createLongPolls<T>(options: LongPollsOptions<T>): LongPolls<T> {
  const { wakeups, topic } = options;
  const poll = createPoll(options.pollMs ?? POLL_MS);
  const reader = createBatcher<string, T | undefined>({
    run: async (keys) => {
      const rows = await options.read([...new Set(keys)]);
      return keys.map((key) => rows.get(key));
    },
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_KEYS,
  });
  const read = (key: string) => reader.add(key);
  const until: LongPolls<T>['until'] = async (key, { waitMs, gone }, look) => {
    const deadline = performance.now() + waitMs;
    const signal = createSignal();
    // Subscribes before the first read, so that a change right after it is not missed.
    const stops = [wakeups.on(topic, key, signal.raise), poll.join(signal.raise)];
    gone?.addEventListener('abort', signal.raise, { once: true });
    try {
      for (;;) {
        signal.reset();
        const row = await look();
        const leftMs = deadline - performance.now();
        if (row !== undefined || leftMs <= 0 || gone?.aborted) return row;
        await signal.raised(leftMs);
      }
    } finally {
      for (const stop of stops) stop();
      gone?.removeEventListener('abort', signal.raise);
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
