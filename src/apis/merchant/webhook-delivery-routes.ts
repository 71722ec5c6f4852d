import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  DELIVERY_EXAMPLE,
  DeliveryListQuery,
  DeliveryListSchema,
  DeliverySchema,
  REPLAY_EXAMPLE,
  ReplayBody,
  ReplaySchema,
} from '#apis/merchant/webhook-schema.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { answerPage, readPage } from '#http/paging.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import { renderDelivery } from '#webhooks/delivery.ts';
import { selectDeliveries, selectDelivery } from '#webhooks/delivery-queries.ts';
import type { WebhookDeps } from '#webhooks/endpoint.ts';
import { selectEndpoint } from '#webhooks/endpoint-queries.ts';
import { getReplay, renderReplay, startReplay } from '#webhooks/replay.ts';
import { retryDelivery } from '#webhooks/retry-delivery.ts';
import { sendTest } from '#webhooks/send-test.ts';

const TAG = 'Webhook deliveries';

const deliveryResponse = (description: string) => ({
  schema: DeliverySchema,
  description,
  example: DELIVERY_EXAMPLE,
});

const replayResponse = (description: string) => ({
  schema: ReplaySchema,
  description,
  example: REPLAY_EXAMPLE,
});

function listRoute(deps: WebhookRoutesDeps) {
  return defineRoute<MerchantCaller, typeof DeliveryListQuery>({
    method: 'GET',
    path: '/webhook_endpoints/{id}/deliveries',
    operationId: 'listWebhookDeliveries',
    moves: 'nothing',
    tag: TAG,
    summary: 'List the deliveries of an endpoint, newest event first',
    scope: 'webhooks:read',
    idempotency: 'ignored',
    params: { id: 'webhookEndpoint' },
    query: DeliveryListQuery,
    responses: { 200: { schema: DeliveryListSchema, description: 'One page.' } },
    errors: ['resource_missing', 'cursor_invalid'],
    handle: async ({ caller: { tenant }, params, query }) => {
      const endpointId = params.id ?? '';
      const pagination = {
        list: `deliveries of ${endpointId}`,
        tenant,
        query,
        cursorKey: deps.cursorKey,
      };
      const page = readPage(pagination, query);
      if (isRefusal(page)) return page;
      if ((await selectEndpoint(deps.db, tenant, endpointId)) === undefined) {
        return resourceMissing('webhook endpoint');
      }
      const wanted = { endpointId, status: query.status ?? null };
      const rows = await selectDeliveries(deps.db, wanted, page);
      const placed = rows.map((row) => ({
        row,
        created: row.event_created,
        position: row.event_position,
      }));
      return answerPage(pagination, page, placed, ({ row }) => renderDelivery(row));
    },
  });
}

function retrieveRoute(deps: WebhookRoutesDeps) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/webhook_deliveries/{id}',
    operationId: 'retrieveWebhookDelivery',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a delivery',
    scope: 'webhooks:read',
    idempotency: 'ignored',
    params: { id: 'webhookDelivery' },
    responses: { 200: deliveryResponse('The delivery.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const row = await selectDelivery(deps.db, caller.tenant, params.id ?? '');
      if (row === undefined) return resourceMissing('webhook delivery');
      return answerWith(200, renderDelivery(row));
    },
  });
}

function retryRoute(deps: WebhookRoutesDeps) {
  return defineRoute<MerchantCaller>({
    method: 'POST',
    path: '/webhook_deliveries/{id}/retry',
    operationId: 'retryWebhookDelivery',
    moves: 'data',
    tag: TAG,
    summary: 'Send a delivery again at once',
    description:
      'Works in every status; the count of attempts continues. Read the delivery again to see ' +
      'the result.',
    scope: 'webhooks:write',
    idempotency: 'ignored',
    params: { id: 'webhookDelivery' },
    responses: { 200: deliveryResponse('The delivery, pending.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const row = await retryDelivery(deps, caller.tenant, params.id ?? '', now);
      return isRefusal(row) ? row : answerWith(200, renderDelivery(row));
    },
  });
}

function testRoute(deps: WebhookRoutesDeps) {
  return defineRoute<MerchantCaller>({
    method: 'POST',
    path: '/webhook_endpoints/{id}/test',
    operationId: 'testWebhookEndpoint',
    moves: 'data',
    tag: TAG,
    summary: 'Send a test event to an endpoint',
    description: 'A `ping` event, sent once. The response is its delivery, with the result.',
    scope: 'webhooks:write',
    idempotency: 'ignored',
    params: { id: 'webhookEndpoint' },
    responses: { 200: deliveryResponse('The delivery, succeeded or failed.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const row = await sendTest(deps, caller.tenant, params.id ?? '', deps.clock);
      return isRefusal(row) ? row : answerWith(200, renderDelivery(row));
    },
  });
}

function replayRoute(deps: WebhookRoutesDeps) {
  return defineRoute<MerchantCaller, undefined, typeof ReplayBody>({
    method: 'POST',
    path: '/webhook_endpoints/{id}/replay',
    operationId: 'replayWebhookEvents',
    moves: 'data',
    tag: TAG,
    summary: 'Send the events of a period again',
    description:
      'Every event from `since` to `until` of `types` (default: those the endpoint subscribes ' +
      'to) is queued for the endpoint, whether or not it was delivered before. The service does ' +
      'this in batches and resumes after a restart; follow the replay by its id.',
    scope: 'webhooks:write',
    idempotency: 'ignored',
    params: { id: 'webhookEndpoint' },
    body: ReplayBody,
    bodyExample: { since: REPLAY_EXAMPLE.since, types: REPLAY_EXAMPLE.types },
    responses: { 202: replayResponse('The replay, running.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params, body, now }) => {
      const input = {
        since: new Date(body.since),
        until: body.until === undefined ? null : new Date(body.until),
        types: body.types ?? null,
      };
      const row = await startReplay(deps, caller.tenant, params.id ?? '', { input, now });
      return isRefusal(row) ? row : answerWith(202, renderReplay(row));
    },
  });
}

function retrieveReplayRoute(deps: WebhookRoutesDeps) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: '/webhook_replays/{id}',
    operationId: 'retrieveWebhookReplay',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a replay',
    scope: 'webhooks:read',
    idempotency: 'ignored',
    params: { id: 'webhookReplay' },
    responses: { 200: replayResponse('The replay.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const row = await getReplay(deps, caller.tenant, params.id ?? '');
      return isRefusal(row) ? row : answerWith(200, renderReplay(row));
    },
  });
}

export function deliveryRoutes(deps: WebhookRoutesDeps): AnyRoute<MerchantCaller>[] {
  return [
    listRoute(deps),
    retrieveRoute(deps),
    retryRoute(deps),
    testRoute(deps),
    replayRoute(deps),
    retrieveReplayRoute(deps),
  ];
}

export interface WebhookRoutesDeps extends WebhookDeps {
  readonly cursorKey: Buffer;
  /** Test events are sent at the clock's time. */
  readonly clock: { now(): Date };
}
