import type { Answer } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';
import { keyExpiry } from '#idempotency/expire-keys.ts';
import { insertKeys } from '#idempotency/key-queries.ts';
import type { IdempotentRequest } from '#idempotency/request-fingerprint.ts';

/**
 * Claims an idempotency key on behalf of another request, which has stored its response or is still
 * in progress.
 */
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
