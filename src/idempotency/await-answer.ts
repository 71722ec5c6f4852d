import type { Answer } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Clock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { selectKey, updateCompleted } from '#idempotency/queries.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';

/** A wake-up that got lost costs at most this much; the rows are the truth. */
const POLL_MS = 1_000;

export interface Awaited {
  readonly request: IdempotentRequest;
  /** The object whose work completes the request: its wake-up topic and id. */
  readonly topic: string;
  readonly resource: string;
  readonly timeoutMs: number;
  /** The answer when time is up: the object as it is then. */
  readonly answerLate: () => Promise<Answer>;
}

export interface AwaitDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
}

async function storedAnswer(deps: AwaitDeps, request: IdempotentRequest): Promise<Answer | null> {
  const of = { caller: request.caller, key: request.key, now: deps.clock.now() };
  const row = await selectKey(deps.db, request.tenant, of);
  if (row?.status !== 'completed') return null;
  return {
    status: present(row.response_status, 'stored status'),
    body: present(row.response_body, 'stored body'),
  };
}

/** Resolves at the next wake-up, or after the poll interval. */
function nextSign(arm: (ring: () => void) => void, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    arm(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}

/**
 * Waits until the work that a claimed request started has stored the request's response, and
 * returns that. When time is up the object's present state becomes the response, unless the real
 * one came first: the caller, and everybody who replays, get the one that is stored.
 */
export async function awaitAnswer(deps: AwaitDeps, awaited: Awaited): Promise<Answer> {
  const { request, resource } = awaited;
  const deadline = performance.now() + awaited.timeoutMs;
  let ring = () => {};
  let rung = false;
  // Listening begins before the first look: nothing can slip between.
  const stop = deps.wakeups.on(awaited.topic, resource, () => {
    rung = true;
    ring();
  });
  try {
    while (performance.now() < deadline) {
      rung = false;
      const stored = await storedAnswer(deps, request);
      if (stored !== null) return stored;
      const waitMs = Math.min(POLL_MS, Math.max(0, deadline - performance.now()));
      if (!rung) {
        await nextSign((wake) => {
          ring = wake;
        }, waitMs);
      }
    }
  } finally {
    stop();
  }
  const late = await awaited.answerLate();
  await deps.db.transaction((tx) => updateCompleted(tx, request, { ...late, resource }));
  return present(await storedAnswer(deps, request), 'stored answer');
}
