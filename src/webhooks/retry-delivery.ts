import { isRefusal, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import { Abandon } from '#db/database.ts';
import { forgetDeliveryDays } from '#webhooks/count-deliveries-by-day.ts';
import { moveToFront, selectDelivery } from '#webhooks/delivery-queries.ts';
import type { DeliveryRow } from '#webhooks/delivery-tables.ts';
import { liftPause, lockEndpoint } from '#webhooks/endpoint-queries.ts';
import type { WebhookDeps } from '#webhooks/endpoint-rules.ts';

/**
 * Queues a delivery to be resent immediately, whatever its status. Its attempt count continues. The
 * returned delivery is pending and first in its endpoint's queue, even if the endpoint is broken.
 */
export async function retryDelivery(
  ctx: Pick<WebhookDeps, 'db' | 'wakeups'>,
  tenant: Tenant,
  id: string,
  now: Date,
): Promise<DeliveryRow | Refusal> {
  const retried = await ctx.db.transaction<DeliveryRow | Refusal>(async (tx) => {
    const no = (refusal: Refusal) => new Abandon<DeliveryRow | Refusal>(refusal);
    const delivery = await selectDelivery(tx, tenant, id);
    if (delivery === undefined) return no(resourceMissing('webhook delivery'));
    const { endpoint_id: endpointId, event_created: at } = delivery;
    const endpoint = await lockEndpoint(tx, tenant, endpointId);
    if (endpoint === undefined) return no(resourceMissing('webhook delivery'));
    if (endpoint.status === 'disabled') return no(endpointDisabled());
    await forgetDeliveryDays(tx, { endpointId, since: at, until: at });
    await moveToFront(tx, delivery, now);
    await liftPause(tx, endpoint.id);
    return present(await selectDelivery(tx, tenant, id), 'retried delivery');
  });
  if (!isRefusal(retried)) ctx.wakeups.send('deliveries');
  return retried;
}

function endpointDisabled(): Refusal {
  return refuse(
    'parameter_invalid',
    'The webhook endpoint of this delivery is disabled. Enable it first (PATCH with status ' +
      '"enabled"), then send it again.',
    'id',
  );
}
