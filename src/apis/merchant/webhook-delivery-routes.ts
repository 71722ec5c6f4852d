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
import { answerPage, readPage } from '#http/cursors.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectDeliveries, selectDelivery } from '#webhooks/delivery-queries.ts';
import { renderDelivery } from '#webhooks/delivery-tables.ts';
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

function listRoute(ctx: ApiContext) {
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
        cursorKey: ctx.keys.cursor,
      };
      const page = readPage(pagination, query);
      if (isRefusal(page)) return page;
      if ((await selectEndpoint(ctx.db, tenant, endpointId)) === undefined) {
        return resourceMissing('webhook endpoint');
      }
      const filter = { endpointId, status: query.status ?? null };
      const rows = await selectDeliveries(ctx.db, filter, page);
      const placed = rows.map((row) => ({
        row,
        created: row.event_created,
        position: row.event_position,
      }));
      return answerPage(pagination, page, placed, ({ row }) => renderDelivery(row));
    },
  });
}

function retrieveRoute(ctx: ApiContext) {
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
      const row = await selectDelivery(ctx.db, caller.tenant, params.id ?? '');
      if (row === undefined) return resourceMissing('webhook delivery');
      return answerWith(200, renderDelivery(row));
    },
  });
}

function retryRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'POST',
    path: '/webhook_deliveries/{id}/retry',
    operationId: 'retryWebhookDelivery',
    moves: 'data',
    tag: TAG,
    summary: 'Send a delivery again immediately',
    description:
      'Works in every status; the count of attempts continues. Read the delivery again to see ' +
      'the result.',
    scope: 'webhooks:write',
    idempotency: 'ignored',
    params: { id: 'webhookDelivery' },
    responses: { 200: deliveryResponse('The delivery, pending.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const row = await retryDelivery(ctx, caller.tenant, params.id ?? '', now);
      return isRefusal(row) ? row : answerWith(200, renderDelivery(row));
    },
  });
}

function testRoute(ctx: ApiContext) {
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
      const row = await sendTest(ctx, caller.tenant, params.id ?? '', ctx.clock);
      return isRefusal(row) ? row : answerWith(200, renderDelivery(row));
    },
  });
}

function replayRoute(ctx: ApiContext) {
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
      const row = await startReplay(ctx, caller.tenant, params.id ?? '', { input, now });
      return isRefusal(row) ? row : answerWith(202, renderReplay(row));
    },
  });
}

function retrieveReplayRoute(ctx: ApiContext) {
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
      const row = await getReplay(ctx, caller.tenant, params.id ?? '');
      return isRefusal(row) ? row : answerWith(200, renderReplay(row));
    },
  });
}

export function deliveryRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [
    listRoute(ctx),
    retrieveRoute(ctx),
    retryRoute(ctx),
    testRoute(ctx),
    replayRoute(ctx),
    retrieveReplayRoute(ctx),
  ];
}
