import type { Refusal } from '#core/answer.ts';
import type { Sql } from '#db/database.ts';
import { selectKey } from '#idempotency/key-queries.ts';
import { keyReused } from '#idempotency/key-refusals.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';

/** The key and the caller of a request whose body could not be read. */
export type UnreadRequest = Pick<IdempotentRequest, 'tenant' | 'caller' | 'key'>;

export type CheckHeldKey = (request: UnreadRequest, now: Date) => Promise<Refusal | null>;

/**
 * Checks whether the key of a request with an invalid body was used for another request; that
 * refusal comes first (behavior.md 2.4). Only valid requests hold keys, because validation refusals
 * free them, so an invalid request never repeats a stored one.
 */
export function createHeldKeyCheck(db: Sql): CheckHeldKey {
  return async ({ tenant, caller, key }, now) => {
    const row = await selectKey(db, tenant, { caller, key, now });
    return row === undefined ? null : keyReused();
  };
}
