import type { Answer, Refusal } from '#core/answer.ts';
import { tenantOf } from '#core/mode.ts';
import { createBatcher } from '#db/batching.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Sql } from '#db/database.ts';
import { selectKeys } from '#idempotency/key-queries.ts';
import { replayOf } from '#idempotency/run-once-per-key.ts';
import type { PayerRow } from '#payers/payer-queries.ts';
import { readPayers } from '#payments/credential.ts';
import { selectPayable } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import type { PayRequest } from '#payments/pay-request.ts';

/**
 * The facts about a payment that are read before anything is locked, so that the chain can be
 * queried.
 */
export interface Outlook {
  /** The stored response if the idempotency key was used before; otherwise `null`. */
  readonly replay: Answer | Refusal | null;
  readonly intent: PaymentIntent | null;
  readonly payer: PayerRow | null;
}

export type LookAhead = (request: PayRequest) => Promise<Outlook>;

const MAX_IN_FLIGHT = 3;
const MAX_ITEMS = 64;

async function lookAhead(sql: Sql, requests: readonly PayRequest[]): Promise<Outlook[]> {
  const idempotent = requests.flatMap(({ idempotency }) => idempotency ?? []);
  const now = new Date(Math.max(...requests.map((request) => request.now.getTime())));
  const [keys, intents, payerOf] = await Promise.all([
    selectKeys(sql, idempotent, now),
    selectPayable(sql, [...new Set(requests.map(({ intentId }) => intentId))]),
    readPayers(
      sql,
      requests.map(({ presented }) => presented),
    ),
  ]);
  const intentById = new Map(intents.map((intent) => [intent.id, intent]));
  return requests.map(({ idempotency, intentId, presented, merchant }) => {
    const intent = intentById.get(intentId);
    const isOwn =
      intent !== undefined && tenantKey(tenantOf(intent)) === tenantKey(merchant.tenant);
    return {
      replay: replayOf(keys, idempotency),
      intent: isOwn ? intent : null,
      payer: payerOf(presented),
    };
  });
}

/**
 * Returns a function that reads an {@link Outlook}. Concurrent requests share its three statements.
 */
export function createLookAhead(db: Sql): LookAhead {
  const batcher = createBatcher<PayRequest, Outlook>({
    run: (requests) => lookAhead(db, requests),
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_ITEMS,
  });
  return (request) => batcher.add(request);
}
