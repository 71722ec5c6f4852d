import type { ListEventsQuery, ListWebhookDeliveriesQuery, WebhookDelivery } from 'tapline';
import {
  holds,
  inputs,
  listOf,
  MAYBE_TEXT,
  MAYBE_WHOLE,
  OBJECT,
  reads,
  TEXT,
  type Tool,
  type ToolDeps,
  WHOLE,
} from './tool-definition.ts';

/** Number of objects in a list. Enough for a model; the dashboard shows more. */
const NEWEST = 20;

/**
 * Tools that show developers the requests and events that were sent and their results, and that
 * resend events.
 */

const DELIVERY = holds({
  delivery: TEXT,
  endpoint: TEXT,
  event: TEXT,
  event_type: TEXT,
  status: { ...TEXT, enum: ['pending', 'succeeded', 'failed'] },
  attempt: WHOLE,
  response_status: MAYBE_WHOLE,
  response_body: MAYBE_TEXT,
  error: MAYBE_TEXT,
  next_attempt_at: MAYBE_TEXT,
  updated: TEXT,
});

function viewOf(sent: WebhookDelivery): object {
  const { id, webhook_endpoint, event, event_type, status, attempt } = sent;
  const { response_status, response_body, error, next_attempt_at, updated } = sent;
  return {
    ...{ delivery: id, endpoint: webhook_endpoint, event, event_type, status, attempt },
    ...{ response_status, response_body, error, next_attempt_at, updated },
  };
}

async function listEvents({ tapline }: ToolDeps, { type }: Readonly<Record<string, string>>) {
  const query = { limit: NEWEST, ...(type === undefined ? {} : { type }) } as ListEventsQuery;
  const { data } = await tapline.events.list(query).page;
  return {
    events: data.map(({ id, type: kind, created, data: { object } }) => ({
      ...{ event: id, type: kind, created },
      object: (object as { readonly id?: string }).id ?? null,
    })),
  };
}

async function listDeliveries(
  { tapline }: ToolDeps,
  { endpoint, status }: Readonly<Record<string, string>>,
) {
  const { data: endpoints } = await tapline.webhookEndpoints.list().page;
  const selected = endpoints.filter(({ id }) => endpoint === undefined || id === endpoint);
  const query = { limit: NEWEST, ...(status === undefined ? {} : { status }) };
  const pages = selected.map(
    ({ id }) => tapline.webhookEndpoints.deliveries(id, query as ListWebhookDeliveriesQuery).page,
  );
  const all = (await Promise.all(pages)).flatMap(({ data }) => data);
  const newest = all.sort((a, b) => b.created.localeCompare(a.created)).slice(0, NEWEST);
  return {
    endpoints: endpoints.map(({ id, url, status: state, enabled_events }) => {
      return { endpoint: id, url, status: state, enabled_events };
    }),
    deliveries: newest.map(viewOf),
  };
}

async function readLogs({ tapline }: ToolDeps, given: Readonly<Record<string, string>>) {
  const { status, object } = given;
  const query = {
    limit: NEWEST,
    ...(status === 'failed' ? { failed: true } : {}),
    ...(status === undefined || status === 'failed' ? {} : { status: Number(status) }),
    ...(object === undefined ? {} : { object }),
  };
  const { data } = await tapline.requestLog.list(query).page;
  return {
    requests: data.map(({ id, created, method, path, status: answered, code, duration_ms }) => {
      return { request: id, created, method, path, status: answered, code, duration_ms };
    }),
  };
}

export const DEVELOPER_TOOLS: readonly Tool[] = [
  {
    name: 'list_events',
    description: 'List the newest events of the account, of one type or of all types.',
    inputSchema: inputs(
      { type: { type: 'string', description: 'payment.succeeded, …', pattern: '^[a-z_.]{1,60}$' } },
      [],
    ),
    outputSchema: holds({
      events: listOf(holds({ event: TEXT, type: TEXT, created: TEXT, object: MAYBE_TEXT })),
    }),
    annotations: reads('List events'),
    run: listEvents,
  },
  {
    name: 'get_event',
    description: 'Get an event (evt_…) as webhooks deliver it.',
    inputSchema: inputs(
      { event: { type: 'string', description: 'evt_…', pattern: '^evt_[0-9A-Za-z]+$' } },
      ['event'],
    ),
    outputSchema: holds({ event: OBJECT }),
    annotations: reads('Get an event'),
    run: async ({ tapline }, { event = '' }) => ({ event: await tapline.events.retrieve(event) }),
  },
  {
    name: 'list_deliveries',
    description: 'List the webhook endpoints and the newest deliveries with their responses.',
    inputSchema: inputs(
      {
        endpoint: {
          ...{ type: 'string', description: 'we_…; default: all.' },
          pattern: '^we_[0-9A-Za-z]+$',
        },
        status: {
          ...{ type: 'string', description: 'pending, succeeded or failed; default: all.' },
          pattern: '^(pending|succeeded|failed)$',
        },
      },
      [],
    ),
    outputSchema: holds({
      endpoints: listOf(
        holds({ endpoint: TEXT, url: TEXT, status: TEXT, enabled_events: listOf(TEXT) }),
      ),
      deliveries: listOf(DELIVERY),
    }),
    annotations: reads('List webhook deliveries'),
    run: listDeliveries,
  },
  {
    name: 'resend_delivery',
    description:
      'Send a webhook delivery (wdl_…) to its endpoint again. The receiver gets the same event id.',
    inputSchema: inputs(
      { delivery: { type: 'string', description: 'wdl_…', pattern: '^wdl_[0-9A-Za-z]+$' } },
      ['delivery'],
    ),
    outputSchema: DELIVERY,
    annotations: {
      title: 'Send a webhook again',
      readOnlyHint: false,
      destructiveHint: false,
      // Each call sends a message.
      idempotentHint: false,
      openWorldHint: true,
    },
    run: async ({ tapline }, { delivery = '' }) =>
      viewOf(await tapline.webhookDeliveries.retry(delivery)),
  },
  {
    name: 'read_logs',
    description: 'List the newest requests of servers to the API, with their responses.',
    inputSchema: inputs(
      {
        status: {
          ...{ type: 'string', description: 'An HTTP status, or failed for 400 and above.' },
          pattern: '^([1-5]\\d\\d|failed)$',
        },
        object: {
          ...{ type: 'string', description: 'Only requests about this object: pi_…, pay_…' },
          pattern: '^[a-z]+_[0-9A-Za-z]+$',
        },
      },
      [],
    ),
    outputSchema: holds({
      requests: listOf(
        holds({
          ...{ request: TEXT, created: TEXT, method: TEXT, path: TEXT, status: WHOLE },
          ...{ code: MAYBE_TEXT, duration_ms: { type: 'number' } },
        }),
      ),
    }),
    annotations: reads('Read the request log'),
    run: readLogs,
  },
];
