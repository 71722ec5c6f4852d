import type { Answer } from '#core/answer.ts';
import type { Tx } from '#db/database.ts';
import { insertDecided } from '#idempotency/batch-queries.ts';
import type { IdempotentRequest } from '#idempotency/request.ts';
import { keyExpiry } from '#idempotency/run-once.ts';

/** Takes a key as another request would, with its answer or while its work goes on. */
export async function holdKey(
  tx: Tx,
  request: IdempotentRequest,
  now: Date,
  held: { readonly answer?: Answer; readonly resource?: string } = {},
): Promise<void> {
  const { answer = null, resource = null } = held;
  const expiresAt = keyExpiry(now);
  await insertDecided(tx, [{ request, answer, resource, created: now, expiresAt }]);
}
