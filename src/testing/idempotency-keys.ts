import type { Answer } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';
import { insertKeys } from '#idempotency/key-queries.ts';
import { type IdempotentRequest, keyExpiry } from '#idempotency/request.ts';

/** Takes a key as another request would, with its answer or while its work goes on. */
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
