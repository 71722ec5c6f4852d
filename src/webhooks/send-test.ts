import { type Refusal, resourceMissing } from '#core/answer.ts';
import { only } from '#core/assert.ts';
import type { Clock } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import type { Tx } from '#db/database.ts';
import type { WrittenEvent } from '#events/append-events.ts';
import { writeEvents } from '#events/append-events.ts';
import { type AttemptResult, attemptDelivery, openTarget } from '#webhooks/attempt-delivery.ts';
import { deliveryIdOf, insertFinished } from '#webhooks/delivery-queries.ts';
import type { DeliveryRow } from '#webhooks/delivery-tables.ts';
import { disableEndpoint, saysGone } from '#webhooks/disable-endpoint.ts';
import {
  forgetFailures,
  lockEndpoint,
  noteTest,
  selectEndpoint,
} from '#webhooks/endpoint-queries.ts';
import type { EndpointRow, WebhookDeps } from '#webhooks/endpoint-rules.ts';
import { renderEndpoint } from '#webhooks/endpoint-rules.ts';

async function sendPing(
  ctx: WebhookDeps,
  endpoint: EndpointRow,
  ping: { readonly event: WrittenEvent; readonly clock: Clock },
): Promise<AttemptResult> {
  const { id: eventId, body } = ping.event;
  const deliveryId = await deliveryIdOf(ctx.db, { eventId, endpointId: endpoint.id });
  const target = openTarget(endpoint.id, endpoint, {
    secretKey: ctx.keys.webhook,
    network: ctx.outside.webhooks,
  });
  try {
    const message = { deliveryId, eventId, eventType: 'ping', body, attempt: 1, traceparent: null };
    return await attemptDelivery(target, message, ping.clock);
  } finally {
    target.transport.close();
  }
}

async function recordTest(
  tx: Tx,
  endpoint: EndpointRow,
  answered: { readonly event: WrittenEvent; readonly result: AttemptResult },
): Promise<DeliveryRow> {
  const { event, result } = answered;
  const { succeeded, finished } = result;
  const row = {
    endpoint_id: endpoint.id,
    status: succeeded ? 'succeeded' : 'failed',
    event_created: event.created,
    event_position: event.position,
    account_id: endpoint.account_id,
    livemode: endpoint.livemode,
    event_id: event.id,
    event_type: 'ping',
    created: event.created,
    updated: finished,
    attempt: 1,
    traceparent: null,
    response_status: result.responseStatus,
    response_body: result.responseBody,
    error: result.error,
    duration_ms: result.durationMs,
    next_attempt_at: null,
  } as const;
  if ((await lockEndpoint(tx, null, endpoint.id)) !== undefined) {
    await noteTest(tx, { id: endpoint.id, succeeded, at: finished });
    if (succeeded) await forgetFailures(tx, endpoint.id);
  }
  return { ...row, id: await insertFinished(tx, row) };
}

/**
 * Sends a `ping` event to this endpoint only, and waits for its response for at most 10 s. It is
 * sent once, even to a disabled endpoint. A success marks a broken endpoint as healthy.
 */
export async function sendTest(
  ctx: WebhookDeps,
  tenant: Tenant,
  id: string,
  clock: Clock,
): Promise<DeliveryRow | Refusal> {
  const endpoint = await selectEndpoint(ctx.db, tenant, id);
  if (endpoint === undefined) return resourceMissing('webhook endpoint');
  const event = await writePing(ctx, tenant, endpoint, clock.now());
  const result = await sendPing(ctx, endpoint, { event, clock });
  const row = await ctx.db.transaction((tx) => recordTest(tx, endpoint, { event, result }));
  if (result.succeeded) ctx.wakeups.send('deliveries');
  if (saysGone(result)) {
    await disableEndpoint(ctx.db, { endpointId: id, reason: 'gone', now: clock.now() });
    ctx.wakeups.send('deliveries');
  }
  return row;
}

async function writePing(
  ctx: WebhookDeps,
  tenant: Tenant,
  endpoint: EndpointRow,
  now: Date,
): Promise<WrittenEvent> {
  return ctx.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, now, 1);
    const object = renderEndpoint(endpoint);
    const draft = { tenant, type: 'ping', objectId: endpoint.id, object, stamp } as const;
    return only((await writeEvents(tx, [draft])).events, 'event');
  });
}
