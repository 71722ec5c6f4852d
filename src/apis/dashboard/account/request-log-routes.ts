import { createHmac } from 'node:crypto';
import Type from 'typebox';
import { MODE, type PersonRoute, personRoute } from '#apis/dashboard/person-route.ts';
import { requestFields, requestFilters, requestView } from '#apis/merchant/request-log-routes.ts';
import { answerWith, type Refusal, refuse, resourceMissing } from '#core/answer.ts';
import { equalInConstantTime, keysOf } from '#core/bearer-secrets.ts';
import { idTime } from '#core/ids.ts';
import type { Tenant } from '#core/mode.ts';
import { listOf } from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { selectRequest, selectRequests } from '#request-log/request-log-queries.ts';

const TAG = 'Request log';
const DEFAULT_LIMIT = 20;

const RequestSchema = Type.Object(requestFields, {
  description: 'The request and its response, without their bodies.',
});

const LogQuery = Type.Object({
  ...requestFilters,
  by_servers: Type.Optional(
    Type.Boolean({ description: 'true: only calls of the merchant API, not people or tills.' }),
  ),
});

/** Signs a cursor with the ID of a logged request. The ID begins with the time. */
function sign(cursorKey: Buffer, tenant: Tenant, id: string): Buffer {
  const listName = `request log ${tenant.accountId} ${tenant.livemode} ${id}`;
  return createHmac('sha256', cursorKey).update(listName).digest().subarray(0, 16);
}

function decode(cursorKey: Buffer, tenant: Tenant, cursor: string) {
  const [id = '', mac = ''] = cursor.split('.');
  const created = idTime('request', id);
  const sent = Buffer.from(mac, 'base64url');
  const isOurs = keysOf(cursorKey).some((key) => equalInConstantTime(sign(key, tenant, id), sent));
  return created !== null && isOurs ? { created, id } : null;
}

function cursorInvalid(): Refusal {
  return refuse(
    'cursor_invalid',
    'This cursor does not belong to this list. Send next_cursor unchanged.',
    'cursor',
  );
}

function readDate(textOf: string | undefined): Date | null {
  return textOf === undefined ? null : new Date(textOf);
}

function listRoute({ db, keys: { cursor: cursorKey } }: ApiContext) {
  return personRoute<typeof LogQuery>({
    method: 'GET',
    path: `${MODE}/request_log`,
    operationId: 'listRequests',
    moves: 'nothing',
    tag: TAG,
    summary: 'List requests of the last 30 days, newest first',
    access: 'viewer',
    query: LogQuery,
    response: listOf(RequestSchema),
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const { cursor, limit = DEFAULT_LIMIT } = query;
      const after = cursor === undefined ? null : decode(cursorKey, tenant, cursor);
      if (cursor !== undefined && after === null) return cursorInvalid();
      const filters = {
        status: query.status ?? null,
        failed: query.failed ?? false,
        byServers: query.by_servers ?? false,
        operation: query.operation ?? null,
        callerId: query.caller ?? null,
        objectId: query.object ?? null,
        createdGte: readDate(query.created_gte),
        createdLt: readDate(query.created_lt),
      };
      const rows = await selectRequests(db, { tenant, filters }, { limit, after });
      const shown = rows.slice(0, limit);
      const last = rows.length > limit ? shown.at(-1) : undefined;
      const next =
        last === undefined
          ? null
          : `${last.id}.${sign(cursorKey, tenant, last.id).toString('base64url')}`;
      const data = shown.map(requestView);
      return answerWith(200, {
        object: 'list',
        data,
        has_more: next !== null,
        next_cursor: next,
      });
    },
  });
}

function readRoute({ db }: ApiContext) {
  return personRoute({
    method: 'GET',
    path: `${MODE}/request_log/{id}`,
    operationId: 'readRequest',
    moves: 'nothing',
    tag: TAG,
    summary: 'One request',
    access: 'viewer',
    params: { id: 'request' },
    response: RequestSchema,
    handle: async ({ caller: { tenant }, params }) => {
      const id = params.id ?? '';
      const created = idTime('request', id);
      const row = created === null ? null : await selectRequest(db, tenant, { id, created });
      return row === null ? resourceMissing('request') : answerWith(200, requestView(row));
    },
  });
}

export function requestLogRoutes(ctx: ApiContext): PersonRoute[] {
  return [listRoute(ctx), readRoute(ctx)];
}
