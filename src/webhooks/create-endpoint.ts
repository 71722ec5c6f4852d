import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { encrypt } from '#core/bearer-secrets.ts';
import { newId } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { Abandon } from '#db/database.ts';
import { countEndpointsLocked, insertEndpoint } from '#webhooks/endpoint-queries.ts';
import {
  checkEnabledEvents,
  type EndpointRow,
  MAX_ENDPOINTS,
  type NoteChange,
  type WebhookDeps,
} from '#webhooks/endpoint-rules.ts';
import { checkEndpointUrl } from '#webhooks/endpoint-url.ts';
import { newSigningSecret } from '#webhooks/sign-delivery.ts';

export interface CreateEndpoint {
  readonly url: string;
  readonly enabledEvents: readonly string[];
  readonly description: string | null;
  /** The version to which the endpoint is pinned. */
  readonly apiVersion: string;
}

/** An endpoint with its secret, which is shown only once. */
export interface RevealedEndpoint {
  readonly endpoint: EndpointRow;
  readonly secret: string;
}

export async function createEndpoint(
  ctx: WebhookDeps,
  tenant: Tenant,
  input: CreateEndpoint,
  now: Date,
  note?: NoteChange<EndpointRow>,
): Promise<RevealedEndpoint | Refusal> {
  const events = checkEnabledEvents(input.enabledEvents);
  if (isRefusal(events)) return events;
  const bad = await checkEndpointUrl(input.url, {
    ...ctx.outside.webhooks,
    livemode: tenant.livemode,
  });
  if (bad !== null) return bad;
  const id = newId('webhookEndpoint', now);
  const secret = newSigningSecret();
  return ctx.db.transaction(async (tx) => {
    if ((await countEndpointsLocked(tx, tenant)) >= MAX_ENDPOINTS) {
      return new Abandon<RevealedEndpoint | Refusal>(limitReached());
    }
    const endpoint = await insertEndpoint(tx, {
      id,
      account_id: tenant.accountId,
      livemode: tenant.livemode,
      url: input.url,
      enabled_events: [...events],
      description: input.description,
      api_version: input.apiVersion,
      secret: encrypt(ctx.keys.webhook, secret, id),
      created: now,
    });
    await note?.(tx, endpoint);
    return { endpoint, secret };
  });
}

function limitReached(): Refusal {
  return refuse(
    'endpoint_limit_reached',
    `This account has ${MAX_ENDPOINTS} webhook endpoints in this mode, the maximum. ` +
      'Delete one, or subscribe one endpoint to more event types.',
  );
}
