import { type Refusal, refuse } from '#core/answer.ts';
import type { Json } from '#core/canonical-json.ts';
import { networkOf, type Tenant } from '#core/mode.ts';
import type { Database, Tx } from '#db/database.ts';
import { as, type Row, table } from '#db/table.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { EVENT_FAMILIES, EVENT_TYPES } from '#events/event-types.ts';
import type { Network } from '#webhooks/connect-to-receivers.ts';

export interface WebhookDeps {
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly keys: {
    /** Encrypts the signing secrets. */
    readonly webhook: Buffer;
  };
  readonly outside: { readonly webhooks: Network };
}

/**
 * The reason why an endpoint was disabled. persistent_failure: no success for five days. gone: the
 * receiver answered 410.
 */
export type DisabledReason = 'persistent_failure' | 'gone' | 'requested_by_merchant';

/** The limit on endpoints in behavior.md 11. */
export const MAX_ENDPOINTS = 16;
export const MAX_DESCRIPTION = 500;
/** More than there are types and families, so a longer list is a mistake. */
export const MAX_ENABLED_EVENTS = 64;

export const webhookEndpoints = table('webhook_endpoints', {
  id: 'text',
  account_id: 'text',
  livemode: 'boolean',
  url: 'text',
  enabled_events: 'text[]',
  description: 'text?',
  api_version: 'text',
  status: as<'enabled' | 'disabled'>('text'),
  disabled_reason: as<DisabledReason | null>('text?'),
  failing_since: 'timestamptz?',
  secret: 'bytea',
  previous_secret: 'bytea?',
  previous_secret_until: 'timestamptz?',
  created: 'timestamptz',
  updated: 'timestamptz',
  /** Incremented by each edit. A dashboard edit sends the version it is based on. */
  version: 'int',
});

export type EndpointRow = Row<typeof webhookEndpoints>;

/**
 * Records a user's change in the transaction that makes it. Changes by API key are in the request
 * log instead.
 */
export type NoteChange<Change> = (tx: Tx, change: Change) => Promise<void>;

export function tenantOf(row: { readonly account_id: string; readonly livemode: boolean }): Tenant {
  return { accountId: row.account_id, livemode: row.livemode };
}

/** Renders the endpoint object of behavior.md 11, with `secret` at creation and rotation only. */
export function renderEndpoint(row: EndpointRow, secret?: string): { [key: string]: Json } {
  return {
    id: row.id,
    object: 'webhook_endpoint',
    livemode: row.livemode,
    network: networkOf(row.livemode),
    url: row.url,
    enabled_events: row.enabled_events,
    description: row.description,
    api_version: row.api_version,
    status: row.status,
    disabled_reason: row.disabled_reason,
    failing_since: row.failing_since?.toISOString() ?? null,
    created: row.created.toISOString(),
    updated: row.updated.toISOString(),
    ...(secret === undefined ? {} : { secret }),
  };
}

const SUBSCRIBABLE = new Set<string>(['*', ...EVENT_TYPES, ...EVENT_FAMILIES]);

/** Accepts exact types, families or `*`, each once, in the given order. */
export function checkEnabledEvents(
  events: readonly string[],
  param = 'enabled_events',
): readonly string[] | Refusal {
  if (events.length === 0 || events.length > MAX_ENABLED_EVENTS) {
    const message = `${param} must name 1 to ${MAX_ENABLED_EVENTS} event types; "*" means all.`;
    return refuse('parameter_invalid', message, param);
  }
  const index = events.findIndex((event) => !SUBSCRIBABLE.has(event));
  if (index < 0) return [...new Set(events)];
  return refuse(
    'parameter_invalid',
    `${param}.${index} is not an event type. Allowed: "*", ` +
      `families (${EVENT_FAMILIES.join(', ')}) and types (${EVENT_TYPES.join(', ')}).`,
    `${param}.${index}`,
  );
}
