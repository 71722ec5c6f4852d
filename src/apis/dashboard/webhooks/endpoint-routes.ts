import Type from 'typebox';
import { VersionOut } from '#apis/dashboard/account/account-schema.ts';
import { MODE, type PersonRoute, personRoute, recordChange } from '#apis/dashboard/person-route.ts';
import { Version } from '#apis/dashboard/person-schema.ts';
import { changeOf, newEndpointOf } from '#apis/merchant/webhook-endpoint-routes.ts';
import {
  CreateEndpointBody,
  DeletedSchema,
  EndpointSchema,
  EndpointWithSecretSchema,
  UpdateEndpointBody,
} from '#apis/merchant/webhook-schema.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { present } from '#core/assert.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { createEndpoint } from '#webhooks/create-endpoint.ts';
import { selectEndpoint } from '#webhooks/endpoint-queries.ts';
import { type EndpointRow, renderEndpoint } from '#webhooks/endpoint-rules.ts';
import { rotateSecret } from '#webhooks/rotate-secret.ts';
import { changeEndpoint, removeEndpoint } from '#webhooks/update-endpoint.ts';

const TAG = 'Webhook endpoints';
const PATH = `${MODE}/webhook_endpoints`;

const DashboardEndpointSchema = Type.Object(
  { ...EndpointSchema.properties, version: VersionOut },
  {
    title: 'DashboardWebhookEndpoint',
    description: 'A webhook endpoint, with the version that an edit names.',
  },
);

function endpointView(row: EndpointRow) {
  return { ...renderEndpoint(row), version: row.version };
}

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${PATH}/{id}`,
    operationId: 'dashboardRetrieveWebhookEndpoint',
    moves: 'nothing',
    tag: TAG,
    summary: 'Retrieve a webhook endpoint, with the version that an edit names',
    access: 'viewer',
    params: { id: 'webhookEndpoint' },
    response: DashboardEndpointSchema,
    handle: async ({ caller, params }) => {
      const row = await selectEndpoint(db, caller.tenant, params.id ?? '');
      if (row === undefined) return resourceMissing('webhook endpoint');
      return answerWith(200, endpointView(row));
    },
  });
}

function editable({ url, enabled_events, description, status }: EndpointRow) {
  return { url, enabled_events, description, status };
}

/** Emails show only the host, because the URL's path can contain a secret. */
function hostOf({ url }: EndpointRow): string {
  return new URL(url).host;
}

function createRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof CreateEndpointBody>({
    method: 'POST',
    path: PATH,
    operationId: 'dashboardCreateWebhookEndpoint',
    moves: 'access',
    tag: TAG,
    summary: 'Create a webhook endpoint',
    description: 'The response carries the signing secret, once.',
    access: 'admin',
    body: CreateEndpointBody,
    status: 201,
    response: EndpointWithSecretSchema,
    errors: ['url_not_allowed', 'endpoint_limit_reached'],
    handle: async (request) => {
      const { caller, body, now } = request;
      const input = newEndpointOf(body, caller.apiVersion);
      const made = await createEndpoint(ctx, caller.tenant, input, now, (tx, row) =>
        recordChange(tx, request, {
          action: 'webhook_endpoint.created',
          objectId: row.id,
          after: editable(row),
          detail: `The endpoint sends events to ${hostOf(row)}.`,
        }),
      );
      if (isRefusal(made)) return made;
      return answerWith(201, renderEndpoint(made.endpoint, made.secret));
    },
  });
}

const UpdateBody = Type.Object({ version: Version, ...UpdateEndpointBody.properties });

function describeUpdate(before: EndpointRow, after: EndpointRow): string {
  if (before.url !== after.url) {
    return `The endpoint sent events to ${hostOf(before)} and now sends them to ${hostOf(after)}.`;
  }
  return `The endpoint for ${hostOf(after)} is ${after.status}.`;
}

function updateRoute(ctx: ApiContext) {
  return personRoute<undefined, typeof UpdateBody>({
    method: 'PATCH',
    path: `${PATH}/{id}`,
    operationId: 'dashboardUpdateWebhookEndpoint',
    moves: 'access',
    tag: TAG,
    summary: 'Change a webhook endpoint',
    description: 'Fields that you leave out stay as they are.',
    access: 'admin',
    params: { id: 'webhookEndpoint' },
    body: UpdateBody,
    response: DashboardEndpointSchema,
    errors: ['url_not_allowed', 'version_conflict'],
    handle: async (request) => {
      const { caller, params, body, now } = request;
      const row = await changeEndpoint(ctx, caller.tenant, params.id ?? '', {
        input: changeOf(body),
        now,
        edit: {
          version: body.version,
          note: (tx, { before, after }) =>
            recordChange(tx, request, {
              action: 'webhook_endpoint.updated',
              objectId: after.id,
              before: editable(before),
              after: editable(after),
              detail: describeUpdate(before, after),
            }),
        },
      });
      return isRefusal(row) ? row : answerWith(200, endpointView(row));
    },
  });
}

function deleteRoute(ctx: ApiContext) {
  return personRoute({
    method: 'DELETE',
    path: `${PATH}/{id}`,
    operationId: 'dashboardDeleteWebhookEndpoint',
    moves: 'access',
    // Requires no factor, because deleting only takes access away. Still mails the owners, because
    // their server stops receiving events.
    asks: 'never',
    tag: TAG,
    summary: 'Delete a webhook endpoint',
    description: 'Deliveries that are still pending are dropped.',
    access: 'admin',
    params: { id: 'webhookEndpoint' },
    response: DeletedSchema,
    returns: 'The endpoint was deleted.',
    handle: async (request) => {
      const { caller, params, now } = request;
      const id = params.id ?? '';
      const removed = await removeEndpoint(ctx, caller.tenant, id, now, (tx, row) =>
        recordChange(tx, request, {
          action: 'webhook_endpoint.deleted',
          objectId: id,
          before: editable(row),
          detail: `It sent events to ${hostOf(row)}.`,
        }),
      );
      if (isRefusal(removed)) return removed;
      return answerWith(200, { id, object: 'webhook_endpoint', deleted: true });
    },
  });
}

function rotateRoute(ctx: ApiContext) {
  return personRoute({
    method: 'POST',
    path: `${PATH}/{id}/rotate_secret`,
    operationId: 'dashboardRotateWebhookSecret',
    moves: 'access',
    tag: TAG,
    summary: 'Rotate the signing secret of a webhook endpoint',
    description: 'For 24 hours deliveries are signed with both secrets.',
    access: 'admin',
    params: { id: 'webhookEndpoint' },
    response: EndpointWithSecretSchema,
    handle: async (request) => {
      const { caller, params, now } = request;
      const made = await rotateSecret(ctx, caller.tenant, params.id ?? '', now, (tx, row) => {
        const until = present(row.previous_secret_until, 'end of the old secret').toISOString();
        return recordChange(tx, request, {
          action: 'webhook_endpoint.secret_rotated',
          objectId: row.id,
          after: { previous_secret_until: until },
          detail:
            `It is the endpoint for ${hostOf(row)}. The old secret signs beside the new one ` +
            `until ${until}, and then ends.`,
        });
      });
      if (isRefusal(made)) return made;
      return answerWith(200, renderEndpoint(made.endpoint, made.secret));
    },
  });
}

/** The routes that list endpoints and deliveries are mounted from the merchant API. */
export function endpointRoutes(ctx: ApiContext): PersonRoute[] {
  return [readRoute(ctx), createRoute(ctx), updateRoute(ctx), deleteRoute(ctx), rotateRoute(ctx)];
}
