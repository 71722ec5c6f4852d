import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import {
  impliedErrors,
  MODE,
  type PersonRequest,
  type PersonRoute,
  recordChange,
} from '#apis/dashboard/person-route.ts';
import { listRoute } from '#apis/merchant/payment-intent-list.ts';
import { retrieveRoute } from '#apis/merchant/payment-intent-routes.ts';
import { refuse } from '#core/answer.ts';
import { assert } from '#core/assert.ts';
import type { Json } from '#core/canonical-json.ts';
import type { AnyRoute } from '#http/route.ts';
import { isSerious } from '#http/second-factor-by-effect.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Role } from '#people/role-order.ts';

/**
 * The changing routes of the merchant API that the dashboard also offers, with the lowest role for
 * each. The same handlers run, with the person as the caller. Routes that move money or grant
 * access are not among them: a key's scope already expresses its owner's consent, whereas a person
 * must confirm such a change on a route that declares it.
 */
const WRITES: Readonly<Record<string, Role>> = {
  cancelPaymentIntent: 'member',
  testWebhookEndpoint: 'admin',
  replayWebhookEvents: 'admin',
  retryWebhookDelivery: 'admin',
  testTapTerminal: 'member',
};

/**
 * Routes that only servers need, and routes that the dashboard implements itself (refund-routes.ts,
 * terminal-routes.ts, endpoint-routes.ts, feed-routes.ts, request-log-routes.ts).
 */
const LEFT_OUT = [
  'listRequestLog',
  'listTerminals',
  'retrieveIdempotencyKey',
  'retrieveRefund',
  'retrieveTerminal',
  'retrieveWebhookEndpoint',
  'streamEvents',
];

export function mountedRole(route: AnyRoute<MerchantCaller>): Role | null {
  if (LEFT_OUT.includes(route.operationId)) return null;
  assert(
    !(route.operationId in WRITES && isSerious(route.moves)),
    `${route.operationId} moves ${route.moves}: the dashboard needs a route of its own`,
  );
  return route.method === 'GET' ? 'viewer' : (WRITES[route.operationId] ?? null);
}

type Work = PersonRoute['handle'];

const HELPERS = '/test_helpers/';

/**
 * Limits a handler to test mode, because customers can be simulated only where no real money moves.
 */
function inTestOnly(work: Work): Work {
  return async (request: PersonRequest<never, never>) =>
    request.caller.tenant.livemode
      ? refuse('route_missing', 'Test helpers are available only in test mode.')
      : work(request);
}

/**
 * Writes an audit log entry before a person's change is made, so that failed changes are logged
 * too.
 */
function audited(ctx: ApiContext, route: AnyRoute<MerchantCaller>, work: Work): Work {
  return async (request: PersonRequest<never, never>) => {
    const { caller, params } = request;
    await ctx.db.transaction((tx) =>
      recordChange(tx, request, {
        action: `requested.${route.operationId}`,
        objectId: params.id ?? caller.tenant.accountId,
        after: (request.body ?? null) as { [key: string]: Json } | null,
      }),
    );
    return work(request);
  };
}

function mount(ctx: ApiContext, route: AnyRoute<MerchantCaller>, access: Role): PersonRoute {
  // A PersonCaller has every field of the caller that handlers read. It lacks only the idempotency
  // space, which only the server uses.
  const work = route.handle as unknown as Work;
  const handle = route.method === 'GET' ? work : audited(ctx, route, work);
  const path = `${MODE}${route.path}`;
  const operation = route.operationId;
  return {
    ...route,
    path,
    operationId: `dashboard${operation.charAt(0).toUpperCase()}${operation.slice(1)}`,
    access,
    scope: null,
    params: { account: 'account', mode: 'text', ...route.params },
    errors: [
      ...new Set([...route.errors, ...impliedErrors({ access, path, method: route.method })]),
    ],
    handle: route.path.startsWith(HELPERS) ? inTestOnly(handle) : handle,
  };
}

/** Returns the routes of the merchant API below an account and mode of the dashboard. */
export function mountedRoutes(
  ctx: ApiContext,
  merchantRoutes: readonly AnyRoute<MerchantCaller>[],
): PersonRoute[] {
  const ofPeople = [listRoute(ctx, { forPeople: true }), retrieveRoute(ctx, { forPeople: true })];
  return merchantRoutes.flatMap((one) => {
    const route = ofPeople.find(({ operationId }) => operationId === one.operationId) ?? one;
    const role = mountedRole(route);
    return role === null ? [] : [mount(ctx, route, role)];
  });
}
