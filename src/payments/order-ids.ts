import { assert, present } from '#core/assert.ts';
import type { IdKey } from '#core/ids.ts';
import { tenantKey } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { KeyRow } from '#idempotency/key-queries.ts';
import { keyOf } from '#idempotency/request-fingerprint.ts';
import { type OrderIdRow, selectIntents, selectOrderIdsInUse } from '#payments/intent-queries.ts';
import type { PaymentIntent } from '#payments/intent-rows.ts';
import { type CreateRequest, orderIdOf } from '#payments/price-new-intent.ts';

export interface ChosenOrderId {
  readonly text: string;
  /** The intent that already has this order ID; `null` if the ID is free. */
  readonly takenBy: OrderIdRow | null;
  /**
   * The intent that the same request created before a data loss, rebuilt from the chain; `null` if
   * there is none.
   */
  readonly rebuilt: PaymentIntent | null;
}

/**
 * Maximum number of times that an idempotency key can be reused. 48 hours after each use, it gets
 * the next derived order ID. Different keys practically never derive the same ID.
 */
const MAX_CLASHES = 1_000;

interface Choice {
  readonly orderId: string;
  /** The intent with the chosen order ID, if there is one. */
  readonly row: OrderIdRow | undefined;
}

export function orderKey(request: CreateRequest, orderId: string): string {
  return `${tenantKey(request.merchant.tenant)} ${orderId}`;
}

async function selectInUse(
  tx: Tx,
  requests: readonly { readonly request: CreateRequest; readonly orderId: string }[],
): Promise<Map<string, OrderIdRow>> {
  const rows = await selectOrderIdsInUse(
    tx,
    requests.map(({ request, orderId }) => ({ tenant: request.merchant.tenant, orderId })),
  );
  return new Map(
    rows.map((row) => {
      const tenant = { accountId: row.account_id, livemode: row.livemode };
      return [`${tenantKey(tenant)} ${row.order_id}`, row];
    }),
  );
}

/**
 * Chooses each request's order ID. A missing ID is derived from the Idempotency-Key. If another
 * intent or another request of the batch has that ID, the next derived ID is looked up. A request
 * whose key is already known is a replay and needs no order ID.
 */
export async function chooseOrderIds(
  tx: Tx,
  idKey: IdKey,
  batch: {
    readonly requests: readonly CreateRequest[];
    readonly keys: Promise<ReadonlyMap<string, KeyRow>>;
    /**
     * The value of each request in atoms at the last known rate; `null` if none is known.
     * The caller must await this promise as well: if this function fails earlier, it does not
     * handle the promise's rejection.
     */
    readonly prices: Promise<{ readonly worths: readonly (bigint | null)[] }>;
  },
): Promise<ChosenOrderId[]> {
  const { requests } = batch;
  const chosen = new Map<CreateRequest, Choice>();
  const given = requests.filter(({ input }) => input.orderId !== null);
  const inBatch = new Set(given.map((request) => orderKey(request, orderIdOf(idKey, request))));
  let open = requests;
  for (let clash = 0; open.length > 0; clash++) {
    assert(clash < MAX_CLASHES, 'too many order ids derived from one Idempotency-Key are in use');
    const tried = open.map((request) => ({ request, orderId: orderIdOf(idKey, request, clash) }));
    const inUse = await selectInUse(tx, tried);
    const known = await batch.keys;
    open = tried.flatMap(({ request, orderId }) => {
      const key = orderKey(request, orderId);
      const row = inUse.get(key);
      const fixed = request.input.orderId !== null || known.has(keyOf(request.idempotency));
      const free = row === undefined ? !inBatch.has(key) : row.recovered;
      if (!fixed && !free) return [request];
      if (!fixed) inBatch.add(key);
      chosen.set(request, { orderId, row });
      return [];
    });
  }
  const { worths } = await batch.prices;
  return withRebuilt(
    tx,
    requests.map((request, index) => ({
      request,
      choice: present(chosen.get(request), 'order id'),
      worth: worths[index] ?? null,
    })),
  );
}

/**
 * Largest accepted difference from a rebuilt intent's amount. Its quote is lost, and the rate may
 * have changed, but not by more than this in the minutes in which a request is repeated: see
 * `MAX_JUMP_PERCENT`.
 */
const LOST_RATE_PERCENT = 10n;

/**
 * True if the rebuilt intent's amount matches the request. The rebuilt amount comes from the chain
 * and may include a tip. If no rate is known, only a derived order ID identifies the request.
 */
function isAmountOf(
  { amount }: OrderIdRow,
  { input: { amount: baseAmount, tipping, orderId } }: CreateRequest,
  worth: bigint | null,
): boolean {
  if (worth === null) return orderId === null;
  const percent = typeof baseAmount === 'number' ? 0n : LOST_RATE_PERCENT;
  const most = tipping === null ? worth : 2n * worth;
  return amount * 100n >= worth * (100n - percent) && amount * 100n <= most * (100n + percent);
}

/** Reads the rebuilt intents that requests would create again. */
async function withRebuilt(
  tx: Tx,
  chosen: readonly {
    readonly request: CreateRequest;
    readonly choice: Choice;
    readonly worth: bigint | null;
  }[],
): Promise<ChosenOrderId[]> {
  const ids = chosen.map(({ request, choice: { row }, worth }) => {
    return row?.recovered === true && isAmountOf(row, request, worth) ? row.id : null;
  });
  const taken = ids.filter((id) => id !== null);
  const intents = taken.length === 0 ? [] : await selectIntents(tx, taken);
  const byId = new Map(intents.map((intent) => [intent.id, intent]));
  return chosen.map(({ choice }, index) => ({
    text: choice.orderId,
    takenBy: choice.row ?? null,
    rebuilt: byId.get(ids[index] ?? '') ?? null,
  }));
}
