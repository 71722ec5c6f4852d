import type { Refusal } from '#core/refusal.ts';
import { type IdempotentRequest, keyOf, meetUnderWay } from '#idempotency/request.ts';

/** Does the work, unless another request with the key is at work: then says so. */
export type RunKeyed = <T>(
  request: IdempotentRequest,
  work: () => Promise<T>,
) => Promise<T | Refusal>;

/**
 * Who comes with a key whose first request this process still works on hears so at once
 * (api-v1.md section 8, rules 4 and 6), even when the first one's answer was `request_timeout`.
 * It would else wait for the key's row with the first. Among processes, and after a crash, the row
 * decides: this promises nothing about the work, it only speaks early.
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
