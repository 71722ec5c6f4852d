import { consenting } from '#apis/dashboard/apply-consent-rules.ts';
import {
  authorizePerson,
  identify,
  isAccess,
  type PersonCaller,
  ROOTS,
  type SurfaceSettings,
  scopeOf,
} from '#apis/dashboard/authorize-person.ts';
import { consentRefusal } from '#apis/dashboard/sessions/require-second-factor.ts';
import { refuse } from '#core/answer.ts';
import { assert } from '#core/assert.ts';
import type { AnyRoute, Surface } from '#http/route.ts';
import { redactOwn } from '#observability/redact.ts';

const FREE_TEXTS = ['reason', 'note'] as const;

/** Matches paths in one mode of an account or organization. */
const IN_MODE = /^\/(accounts\/\{account\}|organizations\/\{org\})\/\{mode\}/;

/** Wraps a route so that secrets that a person pasted into a free text are masked. */
function withoutSecrets(route: AnyRoute<PersonCaller>): AnyRoute<PersonCaller> {
  const declared = (route.body as { readonly properties?: object } | undefined)?.properties;
  if (!FREE_TEXTS.some((name) => name in (declared ?? {}))) return route;
  const handle: typeof route.handle = (request) => {
    const body = { ...(request.body as object) } as Record<string, unknown>;
    for (const name of FREE_TEXTS) {
      const text = body[name];
      if (typeof text === 'string') body[name] = redactOwn(text);
    }
    return route.handle({ ...request, body: body as never });
  };
  return { ...route, handle };
}

/**
 * Creates the API surface of one realm: sessions are in cookies, and each route declares its
 * access.
 */
export function personSurface(
  settings: SurfaceSettings,
  routes: readonly AnyRoute<PersonCaller>[],
): Surface {
  const surface: Surface<PersonCaller> = {
    root: ROOTS[settings.cookies.realm],
    authenticate: (request) => identify(settings, request),
    authorize: (route, caller, request) => {
      const { access } = route;
      assert(isAccess(access), `${route.operationId} does not declare who may use it`);
      const { accountId, organizationId, mode } = scopeOf(request.path);
      // An ID in the wrong format names nothing, and `authorizePerson` says so.
      const hasId = accountId !== null || organizationId !== null;
      if (IN_MODE.test(route.path) && hasId && mode === null) {
        return refuse('route_missing', 'The mode in the path must be test or live.');
      }
      const refused = authorizePerson(settings, access, { caller, request });
      if (refused !== null || caller.session === null) return refused;
      const { session, isRealMoney } = caller;
      const isSandbox = settings.people.factorAgeMs === 0;
      const input = { session, now: request.now, isRealMoney, isSandbox };
      return consentRefusal(route, input);
    },
    routes: routes.map((route) => consenting(settings.people, withoutSecrets(route))),
  };
  // This cast is safe, because the server passes to each surface only callers that the surface has
  // created.
  return surface as unknown as Surface;
}
