import type { Refusal } from '#core/answer.ts';
import type { Sql } from '#db/database.ts';
import { selectKey } from '#idempotency/key-queries.ts';
import { type IdempotentRequest, keyReused } from '#idempotency/request.ts';

/** The key and the caller of a request whose body could not be read. */
export type UnreadRequest = Pick<IdempotentRequest, 'tenant' | 'caller' | 'key'>;

export type CheckHeldKey = (request: UnreadRequest, now: Date) => Promise<Refusal | null>;

/**
 * Checks, for a request that is refused because of its body, whether its key belongs to another
 * request, a refusal that comes first (behavior.md 2.4). A held key was claimed by a valid request,
 * because validation refusals free it, so an invalid request never repeats it.
 */
export function createHeldKeyCheck(db: Sql): CheckHeldKey {
  return async ({ tenant, caller, key }, now) => {
    const row = await selectKey(db, tenant, { caller, key, now });
    return row === undefined ? null : keyReused();
  };
}
