import { isRefusal, type Refusal } from '#core/answer.ts';

/** Returns the result of a use case. Throws if the use case refused. */
export function accepted<T>(result: T | Refusal): T {
  if (isRefusal(result)) throw new Error(`${result.code} ${result.message}`);
  return result;
}
