import { TaplineError } from './base-error.ts';
import { WaitTimeoutError } from './error-classes.ts';
import { followEvents, newestEvent, START } from './event-stream.ts';
import { type Bell, type Connection, sleep, type Watching } from './send-with-retries.ts';

export interface WaitOptions<T> {
  /** In milliseconds. @default 300000 */
  readonly timeout?: number;
  /** The condition to wait for. @default a final state */
  readonly until?: (object: T) => boolean;
  readonly signal?: AbortSignal;
}

interface Waited<T> {
  readonly id: string;
  readonly read: () => Promise<T>;
  readonly until: (object: T) => boolean;
}

const TIMEOUT_MS = 300_000;
/** Polling interval while the stream reports changes, in case one is missed. */
const SAFETY_MS = 5_000;
const POLL_MS = 1_000;
/** All waits of a client share its key's rate limit. Together they poll four times a second. */
const SHARE_MS = 250;

/** Spreads polls of waits that began at the same time. */
function pauseOf(watching: Watching): number {
  const share = SHARE_MS * watching.bells.size;
  return Math.max(watching.works() ? SAFETY_MS : POLL_MS, share) * (0.75 + Math.random() / 4);
}

/** Reads the object after each of its events, and at intervals in case an event is missed. */
export async function waitFor<T>(
  to: Connection,
  waited: Waited<T>,
  { timeout = TIMEOUT_MS, until = waited.until, signal }: WaitOptions<T>,
): Promise<T> {
  const deadline = performance.now() + timeout;
  // Each event about the object aborts it, even one that arrives during a read.
  let rung = new AbortController();
  const ring = () => rung.abort();
  const bell = { id: waited.id, ring };
  signal?.addEventListener('abort', ring);
  // Joins the stream before the first read, so that no change in between is missed.
  const watching = join(to, bell);
  await watching.begun;
  try {
    for (;;) {
      signal?.throwIfAborted();
      rung = new AbortController();
      const object = await waited.read().catch(unlessPassing);
      if (object !== null && until(object)) return object;
      const left = deadline - performance.now();
      if (left <= 0) {
        throw new WaitTimeoutError(
          `${waited.id} has not reached a final state after ${timeout} ms, but still may.`,
        );
      }
      await sleep(Math.min(pauseOf(watching), left), rung.signal);
    }
  } finally {
    signal?.removeEventListener('abort', ring);
    leave(to, watching, bell);
  }
}

/** Ignores temporary failures; a refusal is final. */
function unlessPassing(error: unknown): null {
  const status = error instanceof TaplineError ? error.status : 0;
  if (status === null || status >= 500 || status === 429) return null;
  throw error;
}

/** The event types of all objects that can be waited for, on one stream. */
const TYPES = 'payment_intent.*,refund.*';

/** Registers a wait. The first wait opens the shared stream. */
function join(to: Connection, bell: Bell): Watching {
  to.watching ??= startWatching(to);
  to.watching.bells.add(bell);
  return to.watching;
}

/** Unregisters a wait. The last one closes the stream, so that the program can exit. */
function leave(to: Connection, watching: Watching, bell: Bell): void {
  watching.bells.delete(bell);
  if (watching.bells.size > 0) return;
  watching.stop();
  if (to.watching === watching) to.watching = null;
}

function startWatching(to: Connection): Watching {
  const control = new AbortController();
  const { signal } = control;
  const bells = new Set<Bell>();
  let works = true;
  const position = newestEvent(to);
  const follow = async () => {
    const options = { types: TYPES, signal, after: (await position) ?? START };
    for await (const event of followEvents(to, options)) {
      const { id } = event.data.object as { id?: string };
      for (const bell of bells) if (bell.id === id) bell.ring();
    }
  };
  follow().catch(() => {
    // The service refused the stream, for example because the key lacks `events:read`. Then each
    // wait polls.
    works = false;
    for (const bell of bells) bell.ring();
  });
  const stop = () => control.abort();
  return { bells, works: () => works, begun: position.catch(() => null), stop };
}
