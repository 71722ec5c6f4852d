import { randomBytes } from 'node:crypto';
import { isRefusal } from '#core/answer.ts';
import type { Tenant } from '#core/mode.ts';
import type { TestStore } from '#testing/store.ts';
import { LOCAL_CIDRS, type WebhookBench } from '#testing/webhooks.ts';
import { createEndpoint, type RevealedEndpoint } from '#webhooks/create-endpoint.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import type { WebhookDeps } from '#webhooks/endpoint-rules.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

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
  if (isRefusal(made)) throw new Error(made.message);
  return made;
}
