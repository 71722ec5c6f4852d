import type { Refusal } from '#core/answer.ts';
import { type IdempotentRequest, keyOf, meetUnderWay } from '#idempotency/request.ts';

/** Does the work, or answers that another request with the same key is at work. */
export type RunKeyed = <T>(
  request: IdempotentRequest,
  work: () => Promise<T>,
) => Promise<T | Refusal>;

/**
 * A request whose key this process still works on is refused at once (behavior.md 9.5 and 9.7),
 * even when the first one's answer was `request_timeout`. Otherwise it would wait for the key's row
 * behind the first one. Between processes, and after a crash, the row decides: this class only
 * gives the answer earlier and guarantees nothing.
 */
export function createKeysUnderWay(): RunKeyed {
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
