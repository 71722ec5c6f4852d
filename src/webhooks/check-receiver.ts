import { isRefusal, type Refusal, resourceMissing } from '#core/answer.ts';
import { addSeconds, type Clock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { getEvent } from '#events/list-events.ts';
import {
  type AttemptResult,
  attemptDelivery,
  openTarget,
  type Target,
} from '#webhooks/attempt-delivery.ts';
import { deliveryIdOf } from '#webhooks/delivery-queries.ts';
import { type DeliveryRow, renderDelivery } from '#webhooks/delivery-tables.ts';
import { selectEndpoint } from '#webhooks/endpoint-queries.ts';
import type { EndpointRow, WebhookDeps } from '#webhooks/endpoint-rules.ts';
import { sendTest } from '#webhooks/send-test.ts';
import { newSigningSecret, signingKey } from '#webhooks/sign-delivery.ts';

/** Age of the old timestamp, in seconds: twice the five minutes that receivers should tolerate. */
const STALE_SECONDS = 600;

/**
 * How a receiver handled signatures. `not_reached`: it did not accept the valid event, so nothing
 * else was sent. `takes_forged`: it does not check signatures. `takes_old`: it does not check
 * timestamps, so a recorded request can be replayed.
 */
export type ReceiverVerdict = 'checks_signatures' | 'takes_old' | 'takes_forged' | 'not_reached';

export interface Probe {
  readonly taken: boolean;
  readonly response_status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
}

export interface ReceiverCheck {
  readonly verdict: ReceiverVerdict;
  /** The delivery of the valid event, listed like any other. */
  readonly delivery: DeliveryRow;
  /** The request with a forged signature; `null` if it was not sent. */
  readonly forged: Probe | null;
  readonly old: Probe | null;
}

function probeOf(result: AttemptResult): Probe {
  return {
    taken: result.succeeded,
    response_status: result.responseStatus,
    error: result.error,
    duration_ms: result.durationMs,
  };
}

/**
 * Sends the event again with a new id: a receiver that knows the id might return 200 without
 * checking the signature. No delivery is recorded.
 */
async function probe(
  ctx: WebhookDeps,
  endpoint: EndpointRow,
  sent: { readonly body: string; readonly target: Target; readonly clock: Pick<Clock, 'now'> },
): Promise<Probe> {
  const eventId = newId('event', sent.clock.now());
  const deliveryId = await deliveryIdOf(ctx.db, { eventId, endpointId: endpoint.id });
  const body = JSON.stringify({ ...JSON.parse(sent.body), id: eventId });
  const message = { deliveryId, eventId, eventType: 'ping', body, attempt: 1, traceparent: null };
  return probeOf(await attemptDelivery(sent.target, message, sent.clock));
}

function verdictOf(forged: Probe, old: Probe): ReceiverVerdict {
  if (forged.taken) return 'takes_forged';
  return old.taken ? 'takes_old' : 'checks_signatures';
}

/**
 * Sends one valid ping and, if it was accepted, one signed with another secret and one with an old
 * timestamp. A receiver should accept the first and refuse the others.
 */
export async function checkReceiver(
  ctx: WebhookDeps,
  tenant: Tenant,
  id: string,
  clock: Clock,
): Promise<ReceiverCheck | Refusal> {
  const endpoint = await selectEndpoint(ctx.db, tenant, id);
  if (endpoint === undefined) return resourceMissing('webhook endpoint');
  const delivery = await sendTest(ctx, tenant, id, clock);
  if (isRefusal(delivery)) return delivery;
  const event = await getEvent(ctx.db, tenant, { id: delivery.event_id, now: clock.now() });
  if (delivery.status !== 'succeeded' || isRefusal(event)) {
    return { verdict: 'not_reached', delivery, forged: null, old: null };
  }
  const target = openTarget(endpoint.id, endpoint, {
    secretKey: ctx.keys.webhook,
    network: ctx.outside.webhooks,
  });
  const stranger = { ...target, key: signingKey(newSigningSecret()), previous: null };
  const earlier = { now: () => addSeconds(clock.now(), -STALE_SECONDS) };
  try {
    const { body } = event;
    const [forged, old] = await Promise.all([
      probe(ctx, endpoint, { body, target: stranger, clock }),
      probe(ctx, endpoint, { body, target, clock: earlier }),
    ]);
    return { verdict: verdictOf(forged, old), delivery, forged, old };
  } finally {
    target.transport.close();
  }
}

export function renderReceiverCheck({ verdict, delivery, forged, old }: ReceiverCheck) {
  return { object: 'receiver_check', verdict, delivery: renderDelivery(delivery), forged, old };
}
