import type { Clock } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import { createBatcher } from '#db/batching.ts';
import type { Sql } from '#db/database.ts';
import { selectIntents } from '#payments/intent-queries.ts';
import { asOf, type PaymentIntent } from '#payments/payment-intent.ts';

export type ReadIntent = (tenant: Tenant, id: string) => Promise<PaymentIntent | null>;

/**
 * Concurrent statements: a second one avoids waiting for a slow first. With three, each batch held
 * fewer reads, and 64 connections achieved 7 % less.
 */
const MAX_IN_FLIGHT = 2;
const MAX_IDS = 64;

/**
 * Reads intents by id. Concurrent requests share one `= any($1)`, which doubled the throughput. An
 * intent of another account or mode is `null`, like a missing one.
 */
export function createIntentReader(deps: { readonly db: Sql; readonly clock: Clock }): ReadIntent {
  const batcher = createBatcher<string, PaymentIntent | null>({
    run: async (ids) => {
      const found = await selectIntents(deps.db, [...new Set(ids)]);
      const byId = new Map(found.map((intent) => [intent.id, intent]));
      return ids.map((id) => byId.get(id) ?? null);
    },
    maxInFlight: MAX_IN_FLIGHT,
    maxItems: MAX_IDS,
  });
  return async (tenant, id) => {
    const intent = await batcher.add(id);
    const own =
      intent?.tenant.accountId === tenant.accountId && intent.tenant.livemode === tenant.livemode;
    return own ? asOf(intent, deps.clock.now()) : null;
  };
}
