import Type from 'typebox';
import {
  commonFields,
  idOf,
  listOf,
  nullable,
  objectType,
  oneOf,
  pageParameters,
  Timestamp,
  text,
} from '#http/schema.ts';
import { DELIVERY_STATUSES } from '#webhooks/delivery-tables.ts';
import { MAX_DESCRIPTION, MAX_ENABLED_EVENTS, MAX_ENDPOINTS } from '#webhooks/endpoint-rules.ts';
import { MAX_URL_LENGTH } from '#webhooks/endpoint-url.ts';

const EnabledEvents = Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
  minItems: 1,
  maxItems: MAX_ENABLED_EVENTS,
  description: 'Exact event types, families such as refund.*, or * for all.',
  examples: [['payment.*', 'refund.succeeded']],
});

const endpointFields = {
  id: idOf('we_', 'webhook endpoint'),
  ...commonFields('webhook_endpoint'),
  url: Type.String({ description: 'The URL that events are sent to.' }),
  enabled_events: Type.Array(Type.String(), {
    description: 'The event types that it subscribes to.',
  }),
  description: nullable(Type.String({ description: 'A note of your own.' })),
  api_version: Type.String({
    description: 'Set at creation: events are rendered in this version.',
  }),
  status: oneOf(['enabled', 'disabled'] as const, 'A disabled endpoint receives nothing.'),
  disabled_reason: nullable(
    Type.String({
      description:
        'persistent_failure (five days without a success), gone (it responded with 410) or ' +
        'requested_by_merchant. The list may grow.',
    }),
  ),
  failing_since: nullable(Timestamp),
  created: Timestamp,
  updated: Timestamp,
};

const Secret = Type.String({
  pattern: '^whsec_[A-Za-z0-9+/]{43}=$',
  description: 'The signing secret. Shown only once: store it now.',
  examples: [`whsec_${Buffer.alloc(32, 'example-').toString('base64')}`],
});

export const EndpointSchema = Type.Object(endpointFields, {
  title: 'WebhookEndpoint',
  description: 'The webhook endpoint, without its secret.',
});

export const EndpointWithSecretSchema = Type.Object(
  { ...endpointFields, secret: Secret },
  {
    title: 'WebhookEndpointWithSecret',
    description: 'The endpoint with its secret, which only this response contains.',
  },
);

export const EndpointListSchema = Type.Object({
  object: objectType('list'),
  data: Type.Array(EndpointSchema, { maxItems: MAX_ENDPOINTS, description: 'Newest first.' }),
  has_more: Type.Boolean({ description: 'Always false: the list has all endpoints.' }),
  next_cursor: Type.Null({ description: 'Always null.' }),
});

export const DeletedSchema = Type.Object({
  id: idOf('we_', 'webhook endpoint'),
  object: objectType('webhook_endpoint'),
  deleted: Type.Literal(true, { description: 'The endpoint was deleted.' }),
});

const Url = Type.String({
  maxLength: MAX_URL_LENGTH,
  description:
    'https (in test mode also http), port 80, 443 or 1024 to 65535, no user name, password or ' +
    'fragment, not at a private or reserved address.',
  examples: ['https://shop.example/webhooks/tapline'],
});

export const CreateEndpointBody = Type.Object({
  url: Url,
  enabled_events: EnabledEvents,
  description: Type.Optional(nullable(text(MAX_DESCRIPTION, 'Up to 500 characters.'))),
});

export const UpdateEndpointBody = Type.Object({
  url: Type.Optional(Url),
  enabled_events: Type.Optional(EnabledEvents),
  description: Type.Optional(nullable(text(MAX_DESCRIPTION, 'Up to 500 characters.'))),
  status: Type.Optional(
    oneOf(['enabled', 'disabled'] as const, 'Disabling ends pending deliveries as failed.'),
  ),
});

export const DeliverySchema = Type.Object(
  {
    id: idOf('wdl_', 'webhook delivery'),
    ...commonFields('webhook_delivery'),
    webhook_endpoint: idOf('we_', 'webhook endpoint'),
    event: idOf('evt_', 'event'),
    event_type: Type.String({ description: 'The type of the event.' }),
    status: oneOf(DELIVERY_STATUSES, 'pending: another attempt will follow.'),
    attempt: Type.Integer({ minimum: 0, description: 'Attempts made so far.' }),
    response_status: nullable(Type.Integer({ description: 'HTTP status of the last attempt.' })),
    response_body: nullable(
      Type.String({ description: 'The first 1 KiB of its response body, as text.' }),
    ),
    error: nullable(
      Type.String({
        description:
          'The reason why the last attempt failed: status_not_2xx, redirect_refused, timeout, ' +
          'dns_failed, address_refused, connection_refused, connection_reset, connection_failed, ' +
          'host_unreachable, tls_failed, invalid_response, event_expired, endpoint_disabled, ' +
          'not_sent. The list may grow.',
      }),
    ),
    duration_ms: nullable(
      Type.Integer({ minimum: 0, description: 'The duration of the last attempt.' }),
    ),
    next_attempt_at: nullable(Timestamp),
    created: Timestamp,
    updated: Timestamp,
  },
  {
    title: 'WebhookDelivery',
    description: 'An event on its way to an endpoint, over all its attempts.',
  },
);

export const DeliveryListSchema = listOf(DeliverySchema);

export const DeliveryListQuery = Type.Object({
  ...pageParameters,
  status: Type.Optional(oneOf(DELIVERY_STATUSES, 'Only deliveries of this status.')),
});

export const ReplayBody = Type.Object({
  since: Type.String({ format: 'date-time', description: 'Events created at or after this time.' }),
  until: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Events created before this time. Default: now.',
    }),
  ),
  types: Type.Optional(EnabledEvents),
});

export const ReplaySchema = Type.Object(
  {
    id: idOf('wrp_', 'webhook replay'),
    ...commonFields('webhook_replay'),
    webhook_endpoint: idOf('we_', 'webhook endpoint'),
    since: Timestamp,
    until: Timestamp,
    types: Type.Array(Type.String(), { description: 'The event types that are sent again.' }),
    status: oneOf(['running', 'completed'] as const, 'completed: all of them were queued.'),
    events_queued: Type.Integer({ minimum: 0, description: 'Events queued so far.' }),
    created: Timestamp,
    updated: Timestamp,
  },
  { title: 'WebhookReplay', description: 'A request to send past events to an endpoint again.' },
);

export const ENDPOINT_EXAMPLE = {
  id: 'we_01QzXp2TeX7uXS4rYo0Vp5',
  object: 'webhook_endpoint',
  livemode: false,
  network: 'testnet',
  url: 'https://shop.example/webhooks/tapline',
  enabled_events: ['payment.*', 'refund.succeeded'],
  description: 'Order system',
  api_version: '2026-09-28',
  status: 'enabled',
  disabled_reason: null,
  failing_since: null,
  created: '2026-10-01T11:00:00.000Z',
  updated: '2026-10-01T11:00:00.000Z',
} as const;

export const DELIVERY_EXAMPLE = {
  id: 'wdl_01QzXo1SdW7uXS4rYo0Vp5',
  object: 'webhook_delivery',
  livemode: false,
  network: 'testnet',
  webhook_endpoint: ENDPOINT_EXAMPLE.id,
  event: 'evt_01QzXo1SdW6tWR3qXn9Uo4',
  event_type: 'payment.succeeded',
  status: 'succeeded',
  attempt: 1,
  response_status: 200,
  response_body: 'ok',
  error: null,
  duration_ms: 12,
  next_attempt_at: null,
  created: '2026-10-01T12:00:21.214Z',
  updated: '2026-10-01T12:00:21.240Z',
} as const;

export const REPLAY_EXAMPLE = {
  id: 'wrp_01QzXq3UfY8vYT5sZp1Wq6',
  object: 'webhook_replay',
  livemode: false,
  network: 'testnet',
  webhook_endpoint: ENDPOINT_EXAMPLE.id,
  since: '2026-10-01T00:00:00.000Z',
  until: '2026-10-01T12:00:00.000Z',
  types: ['payment.*'],
  status: 'running',
  events_queued: 0,
  created: '2026-10-01T12:30:00.000Z',
  updated: '2026-10-01T12:30:00.000Z',
} as const;
