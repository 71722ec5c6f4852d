import Type from 'typebox';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { answerWith, isRefusal } from '#core/answer.ts';
import { idTime } from '#core/ids.ts';
import { cursorInvalid, DEFAULT_PAGE_SIZE, openCursor, sealCursor } from '#http/cursors.ts';
import { type AnyRoute, defineRoute } from '#http/route.ts';
import {
  createdParameters,
  idOf,
  listOf,
  nullable,
  objectType,
  pageParameters,
  Timestamp,
  text,
  textOut,
} from '#http/schema.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { type RequestRow, selectRequests } from '#request-log/request-log-queries.ts';

export const requestFields = {
  id: idOf('req_', 'request'),
  created: Timestamp,
  caller: nullable(text(100, 'The id of the API key, terminal or person; `null` if unknown.')),
  operation: nullable(
    textOut('The operation, such as createPaymentIntent; `null` if no route matched.'),
  ),
  method: text(20, 'The HTTP method.', 1),
  path: textOut('The path that was requested, without its query.'),
  status: Type.Integer({ description: 'The HTTP status of the response.' }),
  code: nullable(text(100, 'The error code of the response; `null` if it was not an error.')),
  object_id: nullable(textOut('The id of the object that the request concerned, or null.')),
  idempotency_key: nullable(textOut('The Idempotency-Key of the request, or null.')),
  api_version: text(20, 'The API version that was used.'),
  duration_ms: Type.Number({ description: 'The duration of the request, in milliseconds.' }),
  address: text(64, 'The IP address that the request came from.'),
  user_agent: nullable(textOut('How the client identifies itself, or null.')),
};

export const requestFilters = {
  ...pageParameters,
  ...createdParameters,
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599, description: 'HTTP status.' })),
  failed: Type.Optional(Type.Boolean({ description: 'true: only statuses of 400 and above.' })),
  operation: Type.Optional(text(100, 'The operation, such as createPaymentIntent.', 1)),
  caller: Type.Optional(text(64, 'An API key, terminal or person.', 1)),
  object: Type.Optional(text(64, 'Requests that changed this object.', 1)),
};

export function requestView(row: RequestRow) {
  const { account_id: _a, livemode: _l, caller_id: caller, ...shown } = row;
  return { ...shown, caller };
}

const LoggedRequest = Type.Object(
  { object: objectType('request'), ...requestFields },
  { title: 'LoggedRequest', description: 'A request and its response, without their bodies.' },
);

const RequestLogQuery = Type.Object(requestFilters);

function dateOf(given: string | undefined): Date | null {
  return given === undefined ? null : new Date(given);
}

/**
 * In the merchant API, it lists only the calls of the merchant's servers. The actions of the shop's
 * people, and their addresses, are shown only in the dashboard.
 */
export function requestLogRoute(ctx: ApiContext): AnyRoute<MerchantCaller> {
  return defineRoute<MerchantCaller, typeof RequestLogQuery>({
    method: 'GET',
    path: '/request_log',
    operationId: 'listRequestLog',
    moves: 'nothing',
    tag: 'Request log',
    summary: 'List the requests to this API of the last 30 days, newest first',
    description:
      'Calls with any key of the account and mode, without their bodies. A request appears ' +
      'about a second after its response.',
    scope: 'logs:read',
    idempotency: 'ignored',
    query: RequestLogQuery,
    responses: { 200: { schema: listOf(LoggedRequest), description: 'One page.' } },
    errors: ['cursor_invalid'],
    handle: async ({ caller: { tenant }, query }) => {
      const { limit = DEFAULT_PAGE_SIZE, cursor } = query;
      const pagination = { list: 'request_log', tenant, query, cursorKey: ctx.keys.cursor };
      const position = cursor === undefined ? null : openCursor(pagination, cursor);
      if (isRefusal(position)) return position;
      const id = position?.toString() ?? null;
      const created = id === null ? null : idTime('request', id);
      if (id !== null && created === null) return cursorInvalid();
      const filters = {
        status: query.status ?? null,
        failed: query.failed ?? false,
        byServers: true,
        operation: query.operation ?? null,
        callerId: query.caller ?? null,
        objectId: query.object ?? null,
        createdGte: dateOf(query.created_gte),
        createdLt: dateOf(query.created_lt),
      };
      const after = id === null || created === null ? null : { created, id };
      const rows = await selectRequests(ctx.db, { tenant, filters }, { limit, after });
      const shown = rows.slice(0, limit);
      const last = rows.length > limit ? shown.at(-1) : undefined;
      const next = last === undefined ? null : sealCursor(pagination, Buffer.from(last.id));
      return answerWith(200, {
        object: 'list',
        data: shown.map((row) => ({ object: 'request', ...requestView(row) })),
        has_more: next !== null,
        next_cursor: next,
      });
    },
  });
}
