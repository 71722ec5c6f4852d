import type { Refusal } from '#core/answer.ts';
import { meetUnderWay } from '#idempotency/key-refusals.ts';
import { type IdempotentRequest, keyOf } from '#idempotency/request-fingerprint.ts';

/** Does the work, or refuses the request because another one with the same key is running. */
export type RunKeyed = <T>(
  request: IdempotentRequest,
  work: () => Promise<T>,
) => Promise<T | Refusal>;

/**
 * Refuses a request immediately while this process works on the first one with its key (behavior.md
 * 9.5 and 9.7), even after the first one's response was `request_timeout`. Without this check, the
 * request would wait for the key's row. Across processes, and after a crash, the row decides: this
 * check only answers earlier and guarantees nothing.
 */
export function createKeysInProgress(): RunKeyed {
  const running = new Map<string, IdempotentRequest>();
  return async (request, work) => {
    const key = keyOf(request);
    const first = running.get(key);
    if (first !== undefined) return meetUnderWay(first, request);
    running.set(key, request);
    try {
      return await work();
    } finally {
      running.delete(key);
    }
  };
}
