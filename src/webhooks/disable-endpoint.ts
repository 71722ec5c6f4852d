import { only } from '#core/assert.ts';
import { DAY_MS } from '#core/durations.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Database, Tx } from '#db/database.ts';
import { appendEvents } from '#events/append-events.ts';
import type { AttemptResult } from '#webhooks/attempt-delivery.ts';
import { endDueDeliveries, lockEndpoint, updateEndpoint } from '#webhooks/endpoint-queries.ts';
import { type DisabledReason, renderEndpoint, tenantOf } from '#webhooks/endpoint-rules.ts';

/** An endpoint without a success for this long is disabled. */
export const DISABLE_AFTER_MS = 5 * DAY_MS;

const GONE = 410;

/** True if the receiver has declared the endpoint permanently gone (410). */
export function saysGone(result: Pick<AttemptResult, 'responseStatus'>): boolean {
  return result.responseStatus === GONE;
}

export interface DisabledNotice {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly endpointId: string;
  readonly url: string;
  readonly reason: DisabledReason;
}

/**
 * Queues the mail to the owners in the transaction that disables the endpoint, so that a crash
 * cannot lose it.
 */
export type NotifyDisabled = (tx: Tx, notice: DisabledNotice, now: Date) => Promise<void>;

export interface Disabled {
  readonly notice: DisabledNotice;
  /** The number of the event's deliveries to the account's other endpoints. */
  readonly deliveries: number;
}

/**
 * Disables an endpoint automatically: its undelivered work ends as failed, and the account's other
 * endpoints get `webhook_endpoint.disabled`. Returns `null` if it was already disabled or deleted,
 * or (with `failingBefore`) has recovered since.
 */
export async function disableEndpoint(
  db: Database,
  ending: {
    readonly endpointId: string;
    readonly reason: DisabledReason;
    readonly now: Date;
    readonly failingBefore?: Date;
    readonly tell?: NotifyDisabled | undefined;
  },
): Promise<Disabled | null> {
  const { endpointId, reason, now, failingBefore } = ending;
  return db.transaction(async (tx) => {
    const row = await lockEndpoint(tx, null, endpointId);
    if (row === undefined || row.status === 'disabled') return null;
    if (failingBefore !== undefined && (row.failing_since ?? now) > failingBefore) return null;
    const tenant = tenantOf(row);
    const change = { status: 'disabled', disabled_reason: reason } as const;
    const rows = await updateEndpoint(tx, { id: row.id, updated: now }, change);
    const disabled = only(rows, 'webhook endpoint');
    const stamp = await stampOrder(tx, tenant, now, 1);
    await endDueDeliveries(tx, endpointId, now);
    const object = renderEndpoint(disabled);
    const type = 'webhook_endpoint.disabled';
    const deliveries = await appendEvents(tx, [
      { tenant, type, objectId: endpointId, object, stamp },
    ]);
    const { accountId, livemode } = tenant;
    const notice = { accountId, livemode, endpointId, url: row.url, reason };
    await ending.tell?.(tx, notice, now);
    return { notice, deliveries };
  });
}
