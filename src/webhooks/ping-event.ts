import { only } from '#core/assert.ts';
import type { Tenant } from '#core/mode.ts';
import { stampOrder } from '#db/commit-order.ts';
import { type WrittenEvent, writeEvents } from '#events/append.ts';
import { type EndpointRow, renderEndpoint, type WebhookDeps } from '#webhooks/endpoint.ts';

export async function writePing(
  deps: WebhookDeps,
  tenant: Tenant,
  endpoint: EndpointRow,
  now: Date,
): Promise<WrittenEvent> {
  return deps.db.transaction(async (tx) => {
    const stamp = await stampOrder(tx, tenant, now, 1);
    const object = renderEndpoint(endpoint);
    const draft = { tenant, type: 'ping', objectId: endpoint.id, object, stamp } as const;
    return only((await writeEvents(tx, [draft])).events, 'event');
  });
}
