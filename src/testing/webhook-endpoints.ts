import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Tenant } from '#core/mode.ts';
import type { Page } from '#db/paging.ts';
import { accepted } from '#testing/accepted.ts';
import { firstPage } from '#testing/first-page.ts';
import type { TestStore } from '#testing/store.ts';
import { startReceiver, type TestReceiver } from '#testing/webhook-receiver.ts';
import { LOCAL_CIDRS, type WebhookBench, withNewAccount } from '#testing/webhooks.ts';
import { createEndpoint, type RevealedEndpoint } from '#webhooks/create-endpoint.ts';
import { selectDeliveries } from '#webhooks/delivery-queries.ts';
import type { DeliveryRow, DeliveryStatus } from '#webhooks/delivery-tables.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { selectEndpoints } from '#webhooks/endpoint-queries.ts';
import type { EndpointRow, WebhookDeps } from '#webhooks/endpoint-rules.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';
import { changeEndpoint, removeEndpoint } from '#webhooks/update-endpoint.ts';

/** An account, with the dependencies of the webhook use cases. */
type EndpointBench = WebhookDeps & Pick<WebhookBench, 'tenant' | 'clock'>;

/** Returns the account of the store's merchant, with these dependencies. */
export function endpointsOf(store: TestStore): EndpointBench {
  const { db, wakeups, clock, merchant } = store;
  const network = { policy: addressPolicy(LOCAL_CIDRS), resolver: systemResolver() };
  const keys = { webhook: randomBytes(32) };
  return { db, wakeups, clock, tenant: merchant.tenant, keys, outside: { webhooks: network } };
}

/** Adds an endpoint. It gets all events, or only those of the types in `enabledEvents`. */
export async function addEndpoint(
  bench: EndpointBench,
  url: string,
  options: { readonly enabledEvents?: readonly string[]; readonly tenant?: Tenant } = {},
): Promise<RevealedEndpoint> {
  const made = await createEndpoint(
    bench,
    options.tenant ?? bench.tenant,
    {
      url,
      enabledEvents: options.enabledEvents ?? ['*'],
      description: null,
      apiVersion: '2026-09-28',
    },
    bench.clock.now(),
  );
  return accepted(made);
}

/** Enables or disables an endpoint, as its merchant does. */
export async function setEndpointStatus(
  bench: EndpointBench,
  id: string,
  status: 'enabled' | 'disabled',
): Promise<EndpointRow> {
  const change = { input: { status }, now: bench.clock.now() };
  return accepted(await changeEndpoint(bench, bench.tenant, id, change));
}

/** Returns an endpoint's deliveries, newest event first. Default: in every status. */
export function deliveriesOf(
  { db }: Pick<EndpointBench, 'db'>,
  endpointId: string,
  { status = null, ...page }: { readonly status?: DeliveryStatus | null } & Partial<Page> = {},
): Promise<DeliveryRow[]> {
  return selectDeliveries(db, { endpointId, status }, { ...firstPage(), ...page });
}

/** Returns the number of an endpoint's deliveries that are due now or later. */
export async function dueOf(
  { db }: Pick<EndpointBench, 'db'>,
  endpointId: string,
): Promise<number> {
  const sql = 'select from webhook_due where endpoint_id = $1';
  return (await db.query(sql, [endpointId])).length;
}

/**
 * Opens a new account with a receiver. After the test, the account's endpoints are removed, so that
 * the worker does not send to a closed receiver.
 */
export async function openReceivingAccount(
  t: TestContext,
  shared: WebhookBench,
): Promise<{ readonly bench: WebhookBench; readonly receiver: TestReceiver }> {
  const bench = await withNewAccount(shared);
  const receiver = await startReceiver();
  t.after(async () => {
    for (const { id } of await selectEndpoints(bench.db, bench.tenant)) {
      await removeEndpoint(bench, bench.tenant, id, bench.clock.now());
    }
    await receiver.close();
  });
  return { bench, receiver };
}
