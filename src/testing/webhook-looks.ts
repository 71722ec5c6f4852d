import { addEndpoint } from '#testing/webhook-endpoints.ts';
import { drainDeliveries, writeTestEvents } from '#testing/webhook-events.ts';
import { startReceiver } from '#testing/webhook-receiver.ts';
import { eventually, type WebhookBench, withNewAccount } from '#testing/webhooks.ts';
import type { WebhookWorker } from '#webhooks/delivery-loops.ts';
import { removeEndpoint } from '#webhooks/update-endpoint.ts';

/**
 * Resolves once the worker has finished its deliveries in flight, polled for due ones, and finished
 * those. A request that has not arrived by then will never arrive. To prove the poll, the function
 * has the worker deliver an event to another endpoint: one poll covers all endpoints.
 */
export async function workerLooked(bench: WebhookBench, worker: WebhookWorker): Promise<void> {
  const idle = () => eventually('nothing in flight', async () => worker.stats().inFlight === 0);
  await idle();
  const receiver = await startReceiver();
  const other = await withNewAccount(bench);
  const { endpoint } = await addEndpoint(other, receiver.url);
  await writeTestEvents(other);
  await drainDeliveries(other);
  await idle();
  await removeEndpoint(other, other.tenant, endpoint.id, other.clock.now());
  await receiver.close();
}

/**
 * Resolves once a worker can claim the endpoint again. A worker that pauses an endpoint must first
 * release its lease.
 */
export function leaseGivenBack(bench: WebhookBench, endpointId: string): Promise<true> {
  const leased =
    'select from webhook_endpoint_leases where endpoint_id = $1 and lease_owner is not null';
  return eventually('lease given back', async () => {
    return (await bench.db.query(leased, [endpointId])).length === 0;
  });
}
