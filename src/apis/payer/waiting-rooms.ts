import type { Database } from '#db/database.ts';
import { createWaitingRoom, type WaitingRoom } from '#db/waiting-room.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { type PayerRequestRow, selectPayerRequests } from '#payers/request-queries.ts';
import { payerOf } from '#payments/confirm.ts';
import { selectAskedIntents } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/payment-intent.ts';

export interface RoomDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
}

/**
 * Long-poll registry of payers who wait for something to confirm: keyed by payer, notified by the
 * topic `payer`.
 */
export function createConfirmationRoom(deps: RoomDeps): WaitingRoom<readonly PaymentIntent[]> {
  return createWaitingRoom<readonly PaymentIntent[]>({
    wakeups: deps.wakeups,
    topic: 'payer',
    read: async (payerIds) => {
      const intents = await selectAskedIntents(deps.db, payerIds);
      return Map.groupBy(intents, (intent) => payerOf(intent) ?? '');
    },
  });
}

/** Long-poll registry of payers who wait for a job on the chain, keyed by the request's id. */
export function createRequestRoom(deps: RoomDeps): WaitingRoom<PayerRequestRow> {
  return createWaitingRoom({
    wakeups: deps.wakeups,
    topic: 'payer-request',
    read: async (ids) => {
      const rows = await selectPayerRequests(deps.db, ids);
      return new Map(rows.map((row) => [row.id, row]));
    },
  });
}
