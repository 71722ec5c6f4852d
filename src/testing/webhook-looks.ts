import { addEndpoint } from '#testing/webhook-endpoints.ts';
import { drainDeliveries, writeTestEvents } from '#testing/webhook-events.ts';
import { startReceiver } from '#testing/webhook-receiver.ts';
import { eventually, type WebhookBench, withNewAccount } from '#testing/webhooks.ts';
import { removeEndpoint } from '#webhooks/update-endpoint.ts';
import type { WebhookWorker } from '#webhooks/worker.ts';

/**
 * Resolves when the worker has completed what was in flight, has polled for everything that is due,
 * and has completed what it found. A request that has not arrived by then does not come. It waits
 * for a delivery to another endpoint, because the poll that finds it covers all endpoints, and one
 * that this worker does not hold is claimed with it.
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
 * Resolves when the endpoint can be claimed again: a worker that pauses an endpoint first releases
 * its lease.
 */
export function leaseGivenBack(bench: WebhookBench, endpointId: string): Promise<true> {
  const leased =
    'select from webhook_endpoint_leases where endpoint_id = $1 and lease_owner is not null';
  return eventually('lease given back', async () => {
    return (await bench.db.query(leased, [endpointId])).length === 0;
  });
}
