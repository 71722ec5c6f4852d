import { TaplineError } from './error.ts';
import { WaitTimeoutError } from './errors.ts';
import { type Connection, sleep } from './request.ts';
import { followEvents, newestEvent } from './stream.ts';

export interface WaitOptions<T> {
  /** Milliseconds. @default 300000 */
  readonly timeout?: number;
  /** What to wait for, where it is not the end. */
  readonly until?: (object: T) => boolean;
  readonly signal?: AbortSignal;
}

interface Waited<T> {
  readonly id: string;
  /** Types of the events that tell of it. */
  readonly types: string;
  readonly read: () => Promise<T>;
  readonly until: (object: T) => boolean;
}

const TIMEOUT_MS = 300_000;
/** While the stream tells of changes, asking is only the safety net. */
const SAFETY_MS = 5_000;
const POLL_MS = 1_000;

/** Reads the object whenever an event tells of it, and now and then without one. */
export async function waitFor<T>(
  to: Connection,
  waited: Waited<T>,
  { timeout = TIMEOUT_MS, until = waited.until, signal }: WaitOptions<T>,
): Promise<T> {
  const deadline = performance.now() + timeout;
  const control = new AbortController();
  // Rung by every event that tells of the object, also while it is being read.
  let bell = new AbortController();
  const ring = () => bell.abort();
  signal?.addEventListener('abort', ring);
  // The place is taken before the first look, so that no change can fall between the two.
  const watching = watch(to, waited, { signal: control.signal, ring });
  await watching.begun;
  try {
    for (;;) {
      signal?.throwIfAborted();
      bell = new AbortController();
      const object = await waited.read().catch(unlessPassing);
      if (object !== null && until(object)) return object;
      const left = deadline - performance.now();
      if (left <= 0) {
        throw new WaitTimeoutError(
          `${waited.id} has not come to an end in ${timeout} ms. This is no failure: it may yet.`,
        );
      }
      const pause = watching.works() ? SAFETY_MS : POLL_MS;
      await sleep(Math.min(pause, left), bell.signal);
    }
  } finally {
    signal?.removeEventListener('abort', ring);
    control.abort();
  }
}

/** A service that is away for a moment comes back; a refusal stays one. */
function unlessPassing(error: unknown): null {
  const status = error instanceof TaplineError ? error.status : 0;
  if (status === null || status >= 500 || status === 429) return null;
  throw error;
}

function watch<T>(
  to: Connection,
  { id, types }: Waited<T>,
  { signal, ring }: { readonly signal: AbortSignal; readonly ring: () => void },
) {
  let works = true;
  const place = newestEvent(to);
  const follow = async () => {
    const after = (await place) ?? undefined;
    for await (const event of followEvents(to, { types, signal, ...(after ? { after } : {}) })) {
      if ((event.data.object as { id?: string }).id === id) ring();
    }
  };
  follow().catch(() => {
    // A key without `events:read`, for example: then it asks.
    works = false;
    ring();
  });
  return { works: () => works, begun: place.catch(() => null) };
}
