import { isRole, type PersonRoute, sessionOf } from '#apis/dashboard/person-route.ts';
import { isRefusal } from '#core/answer.ts';
import { createRightsWatch } from '#http/watch-rights.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { hasRole, type Role } from '#people/role-order.ts';
import { type HeldRole, selectCurrentRoles } from '#people/session-queries.ts';

/**
 * Returns a function that ends a route's streams within a second after the reader has lost the
 * session or the role. A handler that asks for `whenGone` ends its stream itself; other streams are
 * cut off, so that the client notices that the file is incomplete.
 */
export function endingWithRole(ctx: ApiContext): (route: PersonRoute) => PersonRoute {
  type Held = HeldRole & { readonly needed: Role };
  const rights = createRightsWatch<Held>(ctx.log, async (all) => {
    const roles = await selectCurrentRoles(ctx.db, all, ctx.clock.now());
    return all.map(({ needed }, n) => {
      const role = roles[n] ?? null;
      return role !== null && hasRole(role, needed);
    });
  });
  return (route) => {
    const { access: needed } = route;
    if (route.method !== 'GET' || !isRole(needed)) return route;
    const handle: PersonRoute['handle'] = async (request) => {
      const { account: accountId = null, org: organizationId = null } = request.params;
      const { id: sessionId } = sessionOf(request.caller);
      const ended = new AbortController();
      let waits = false;
      const whenGone = () => {
        waits = true;
        const gone = request.whenGone();
        gone.addEventListener('abort', () => ended.abort(gone.reason), { once: true });
        if (gone.aborted) ended.abort(gone.reason);
        return ended.signal;
      };
      const answer = await route.handle({ ...request, whenGone });
      if (isRefusal(answer) || !('stream' in answer)) return answer;
      const { stream } = answer;
      const held = { sessionId, accountId, organizationId, needed };
      stream.once(
        'close',
        rights.watch(held, () => (waits ? ended.abort() : stream.destroy())),
      );
      return answer;
    };
    return { ...route, handle };
  };
}
