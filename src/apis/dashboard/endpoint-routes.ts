import Type from 'typebox';
import { VersionOut } from '#apis/dashboard/account-schema.ts';
import {
  actorOf,
  type DashboardDeps,
  MODE,
  type PersonRequest,
  type PersonRoute,
  personRoute,
} from '#apis/dashboard/person-route.ts';
import { Version } from '#apis/dashboard/person-schema.ts';
import { changeOf } from '#apis/merchant/webhook-endpoint-routes.ts';
import { EndpointSchema, UpdateEndpointBody } from '#apis/merchant/webhook-schema.ts';
import { recordEntry } from '#audit/audit.ts';
import { answerWith, isRefusal, resourceMissing } from '#core/answer.ts';
import { type EndpointRow, renderEndpoint } from '#webhooks/endpoint.ts';
import { selectEndpoint } from '#webhooks/endpoint-queries.ts';
import { changeEndpoint, type EndpointEdit } from '#webhooks/update-endpoint.ts';

const TAG = 'Webhook endpoints';

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

function readRoute({ db }: DashboardDeps) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/webhook_endpoints/{id}`,
    operationId: 'dashboardRetrieveWebhookEndpoint',
    moves: 'nothing',
    tag: TAG,
    summary: 'A webhook endpoint, with the version that an edit names',
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

const UpdateBody = Type.Object({ version: Version, ...UpdateEndpointBody.properties });

function editable({ url, enabled_events, description, status }: EndpointRow) {
  return { url, enabled_events, description, status };
}

function recordOf(request: PersonRequest): EndpointEdit['record'] {
  const { caller, requestId, now } = request;
  const { tenant } = caller;
  return (tx, before, after) =>
    recordEntry(tx, {
      trail: tenant.accountId,
      actor: actorOf(caller, requestId),
      action: 'webhook_endpoint.updated',
      objectId: after.id,
      livemode: tenant.livemode,
      before: editable(before),
      after: editable(after),
      now,
    });
}

function updateRoute(deps: DashboardDeps) {
  return personRoute<undefined, typeof UpdateBody>({
    method: 'PATCH',
    path: `${MODE}/webhook_endpoints/{id}`,
    operationId: 'dashboardUpdateWebhookEndpoint',
    moves: 'access',
    asks: 'never',
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
      const edit = { version: body.version, record: recordOf(request) };
      const change = { input: changeOf(body), now, edit };
      const row = await changeEndpoint(deps, caller.tenant, params.id ?? '', change);
      return isRefusal(row) ? row : answerWith(200, endpointView(row));
    },
  });
}

/** Webhook endpoints as people edit them; all else is the merchant API's (merchant-mount.ts). */
export function endpointRoutes(deps: DashboardDeps): PersonRoute[] {
  return [readRoute(deps), updateRoute(deps)];
}
