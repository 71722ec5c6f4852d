import type { Static } from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { deliveryRoutes } from '#apis/merchant/webhook-delivery-routes.ts';
import {
  CreateEndpointBody,
  DeletedSchema,
  ENDPOINT_EXAMPLE,
  EndpointListSchema,
  EndpointSchema,
  EndpointWithSecretSchema,
  UpdateEndpointBody,
} from '#apis/merchant/webhook-schema.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { type CreateEndpoint, createEndpoint } from '#webhooks/create-endpoint.ts';
import { selectEndpoint, selectEndpoints } from '#webhooks/endpoint-queries.ts';
import { renderEndpoint } from '#webhooks/endpoint-rules.ts';
import { rotateSecret } from '#webhooks/rotate-secret.ts';
import { type ChangeEndpoint, changeEndpoint, removeEndpoint } from '#webhooks/update-endpoint.ts';

const TAG = 'Webhook endpoints';
const PATH = '/webhook_endpoints';

const endpointResponse = (description: string) => ({
  schema: EndpointSchema,
  description,
  example: ENDPOINT_EXAMPLE,
});

const revealingResponse = (description: string) => ({
  schema: EndpointWithSecretSchema,
  description,
  example: {
    ...ENDPOINT_EXAMPLE,
    secret: `whsec_${Buffer.alloc(32, 'example-').toString('base64')}`,
  },
});

function listRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: PATH,
    operationId: 'listWebhookEndpoints',
    moves: 'nothing',
    tag: TAG,
    summary: 'List all webhook endpoints of the mode',
    description: 'At most 16, in one list, newest first.',
    scope: 'webhooks:read',
    idempotency: 'ignored',
    responses: {
      200: { schema: EndpointListSchema, description: 'Every endpoint of the account and mode.' },
    },
    errors: [],
    handle: async ({ caller }) => {
      const rows = await selectEndpoints(ctx.db, caller.tenant);
      const data = rows.map((row) => renderEndpoint(row));
      return answerWith(200, { object: 'list', data, has_more: false, next_cursor: null });
    },
  });
}

// It ignores idempotency keys, because a stored response would keep the secret readable.
function createRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, undefined, typeof CreateEndpointBody>({
    method: 'POST',
    path: PATH,
    operationId: 'createWebhookEndpoint',
    moves: 'access',
    tag: TAG,
    summary: 'Create a webhook endpoint',
    description: 'The response carries the signing secret, once.',
    scope: 'webhooks:write',
    idempotency: 'ignored',
    body: CreateEndpointBody,
    bodyExample: { url: ENDPOINT_EXAMPLE.url, enabled_events: ENDPOINT_EXAMPLE.enabled_events },
    responses: { 201: revealingResponse('The new endpoint with its secret.') },
    errors: ['url_not_allowed', 'endpoint_limit_reached'],
    handle: async ({ caller, body, now }) => {
      const input = newEndpointOf(body, caller.apiVersion);
      const made = await createEndpoint(ctx, caller.tenant, input, now);
      if (isRefusal(made)) return made;
      return answerWith(201, renderEndpoint(made.endpoint, made.secret));
    },
  });
}

function retrieveRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'GET',
    path: `${PATH}/{id}`,
    operationId: 'retrieveWebhookEndpoint',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a webhook endpoint',
    scope: 'webhooks:read',
    idempotency: 'ignored',
    params: { id: 'webhookEndpoint' },
    responses: { 200: endpointResponse('The endpoint.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params }) => {
      const row = await selectEndpoint(ctx.db, caller.tenant, params.id ?? '');
      if (row === undefined) return resourceMissing('webhook endpoint');
      return answerWith(200, renderEndpoint(row));
    },
  });
}

/** The dashboard also uses this function, because its body has the same fields. */
export function newEndpointOf(
  body: Static<typeof CreateEndpointBody>,
  apiVersion: string,
): CreateEndpoint {
  const { url, enabled_events: enabledEvents, description = null } = body;
  return { url, enabledEvents, description, apiVersion };
}

/** The dashboard also uses this function, because its body has the same fields. */
export function changeOf(body: Static<typeof UpdateEndpointBody>): ChangeEndpoint {
  return {
    ...(body.url === undefined ? {} : { url: body.url }),
    ...(body.enabled_events === undefined ? {} : { enabledEvents: body.enabled_events }),
    ...(body.description === undefined ? {} : { description: body.description }),
    ...(body.status === undefined ? {} : { status: body.status }),
  };
}

function updateRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller, undefined, typeof UpdateEndpointBody>({
    method: 'PATCH',
    path: `${PATH}/{id}`,
    operationId: 'updateWebhookEndpoint',
    moves: 'access',
    tag: TAG,
    summary: 'Update a webhook endpoint',
    description: 'Fields that you leave out stay as they are.',
    scope: 'webhooks:write',
    idempotency: 'ignored',
    params: { id: 'webhookEndpoint' },
    body: UpdateEndpointBody,
    bodyExample: { status: 'disabled' },
    responses: { 200: endpointResponse('The endpoint as it is now.') },
    errors: ['resource_missing', 'url_not_allowed'],
    handle: async ({ caller, params, body, now }) => {
      const input = changeOf(body);
      const row = await changeEndpoint(ctx, caller.tenant, params.id ?? '', { input, now });
      return isRefusal(row) ? row : answerWith(200, renderEndpoint(row));
    },
  });
}

function deleteRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'DELETE',
    path: `${PATH}/{id}`,
    operationId: 'deleteWebhookEndpoint',
    moves: 'access',
    tag: TAG,
    summary: 'Delete a webhook endpoint',
    description: 'Deliveries that are still pending are dropped.',
    scope: 'webhooks:write',
    idempotency: 'ignored',
    params: { id: 'webhookEndpoint' },
    responses: {
      200: {
        schema: DeletedSchema,
        description: 'The endpoint was deleted.',
        example: { id: ENDPOINT_EXAMPLE.id, object: 'webhook_endpoint', deleted: true },
      },
    },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const id = params.id ?? '';
      const removed = await removeEndpoint(ctx, caller.tenant, id, now);
      if (isRefusal(removed)) return removed;
      return answerWith(200, { id, object: 'webhook_endpoint', deleted: true });
    },
  });
}

function rotateRoute(ctx: ApiContext) {
  return defineRoute<MerchantCaller>({
    method: 'POST',
    path: `${PATH}/{id}/rotate_secret`,
    operationId: 'rotateWebhookSecret',
    moves: 'access',
    tag: TAG,
    summary: 'Rotate the signing secret',
    description: 'For 24 hours deliveries are signed with both secrets.',
    scope: 'webhooks:write',
    idempotency: 'ignored',
    params: { id: 'webhookEndpoint' },
    responses: { 200: revealingResponse('The endpoint with its new secret.') },
    errors: ['resource_missing'],
    handle: async ({ caller, params, now }) => {
      const made = await rotateSecret(ctx, caller.tenant, params.id ?? '', now);
      if (isRefusal(made)) return made;
      return answerWith(200, renderEndpoint(made.endpoint, made.secret));
    },
  });
}

export function webhookRoutes(ctx: ApiContext): AnyRoute<MerchantCaller>[] {
  return [
    listRoute(ctx),
    createRoute(ctx),
    retrieveRoute(ctx),
    updateRoute(ctx),
    deleteRoute(ctx),
    rotateRoute(ctx),
    ...deliveryRoutes(ctx),
  ];
}
