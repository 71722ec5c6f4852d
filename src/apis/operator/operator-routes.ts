import { meRoutes } from '#apis/dashboard/me-routes.ts';
import { passwordRoutes } from '#apis/dashboard/password-routes.ts';
import type { PersonRoute } from '#apis/dashboard/person-route.ts';
import { personSurface } from '#apis/dashboard/person-surface.ts';
import { sessionRoutes } from '#apis/dashboard/session-routes.ts';
import { operatorAccountRoutes } from '#apis/operator/operator-account-routes.ts';
import type { OperatorDeps } from '#apis/operator/operator-deps.ts';
import { operatorKybRoutes } from '#apis/operator/operator-kyb-routes.ts';
import { operatorNetworkRoutes } from '#apis/operator/operator-network-routes.ts';
import { operatorPolicyRoutes } from '#apis/operator/operator-policy-routes.ts';
import { proposalRoutes } from '#apis/operator/proposal-routes.ts';
import { supportAccessRoutes } from '#apis/operator/support-access-routes.ts';
import { supportSearchRoute } from '#apis/operator/support-search-routes.ts';
import type { Surface } from '#http/route.ts';

/** Declares all routes of the operator API. */
export function operatorRoutes(deps: OperatorDeps): PersonRoute[] {
  const { settings } = deps;
  return [
    ...sessionRoutes(settings),
    ...passwordRoutes(settings),
    ...meRoutes(settings),
    ...operatorKybRoutes(deps),
    ...operatorAccountRoutes(deps),
    ...operatorNetworkRoutes(deps),
    ...operatorPolicyRoutes(deps),
    ...proposalRoutes(deps),
    supportSearchRoute(deps),
    ...supportAccessRoutes(deps),
  ];
}

/** Declares `/api/operator/v1`, for the network's own staff, all with a verified second factor. */
export function operatorSurface(deps: OperatorDeps): Surface {
  return personSurface(deps.settings, operatorRoutes(deps));
}
