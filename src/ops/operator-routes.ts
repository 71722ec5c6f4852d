import type { PersonCaller } from '#dashboard/caller.ts';
import { meRoutes } from '#dashboard/me-routes.ts';
import { passwordRoutes } from '#dashboard/password-routes.ts';
import { sessionRoutes } from '#dashboard/session-routes.ts';
import { personSurface } from '#dashboard/surface.ts';
import type { AnyRoute, Surface } from '#http/route.ts';
import { operatorAccountRoutes } from '#ops/operator-account-routes.ts';
import type { OperatorDeps } from '#ops/operator-deps.ts';
import { operatorNetworkRoutes } from '#ops/operator-network-routes.ts';
import { operatorPolicyRoutes } from '#ops/operator-policy-routes.ts';

/** All routes of the operator API. */
export function operatorRoutes(deps: OperatorDeps): AnyRoute<PersonCaller>[] {
  const { settings } = deps;
  return [
    ...sessionRoutes(settings),
    ...passwordRoutes(settings),
    ...meRoutes(settings),
    ...operatorAccountRoutes(deps),
    ...operatorNetworkRoutes(deps),
    ...operatorPolicyRoutes(deps),
  ];
}

/** `/api/operator/v1`: what the network's own staff uses, each with a proven second factor. */
export function operatorSurface(deps: OperatorDeps): Surface {
  return personSurface(deps.settings, operatorRoutes(deps));
}
