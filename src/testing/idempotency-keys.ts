import type { Answer } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';
import { keyExpiry } from '#idempotency/expire-keys.ts';
import { insertKeys } from '#idempotency/key-queries.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';

/** Claims a key as another request would, with a stored response or still in progress. */
export async function holdKey(
  tx: Tx,
  request: IdempotentRequest,
  now: Date,
  held: { readonly answer?: Answer; readonly resource?: string } = {},
): Promise<void> {
  const { answer = null, resource = null } = held;
  const expiresAt = keyExpiry(now);
  await insertKeys(tx, [{ request, answer, resource, created: now, expiresAt }]);
}
