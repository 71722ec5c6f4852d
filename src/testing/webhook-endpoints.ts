import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import type { Tenant } from '#core/mode.ts';
import { accepted } from '#testing/accepted.ts';
import type { TestStore } from '#testing/store.ts';
import { startReceiver, type TestReceiver } from '#testing/webhook-receiver.ts';
import { LOCAL_CIDRS, type WebhookBench, withNewAccount } from '#testing/webhooks.ts';
import { createEndpoint, type RevealedEndpoint } from '#webhooks/create-endpoint.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { selectEndpoints } from '#webhooks/endpoint-queries.ts';
import type { WebhookDeps } from '#webhooks/endpoint-rules.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';
import { removeEndpoint } from '#webhooks/update-endpoint.ts';

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
