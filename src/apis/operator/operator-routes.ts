import type { PersonRoute } from '#apis/dashboard/person-route.ts';
import { personSurface } from '#apis/dashboard/person-surface.ts';
import { meRoutes } from '#apis/dashboard/sessions/own-profile-routes.ts';
import { passwordRoutes } from '#apis/dashboard/sessions/password-routes.ts';
import { sessionRoutes } from '#apis/dashboard/sessions/session-routes.ts';
import { operatorAccountRoutes } from '#apis/operator/operator-account-routes.ts';
import type { OperatorParts } from '#apis/operator/operator-dependencies.ts';
import { operatorKybRoutes } from '#apis/operator/operator-kyb-routes.ts';
import { operatorNetworkRoutes } from '#apis/operator/operator-network-routes.ts';
import { operatorPolicyRoutes } from '#apis/operator/operator-policy-routes.ts';
import { proposalRoutes } from '#apis/operator/proposal-routes.ts';
import { supportAccessRoutes } from '#apis/operator/support-access-routes.ts';
import { supportSearchRoute } from '#apis/operator/support-search-routes.ts';
import type { Surface } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';

export function operatorRoutes(ctx: ApiContext, parts: OperatorParts): PersonRoute[] {
  const { settings } = parts;
  return [
    ...sessionRoutes(settings),
    ...passwordRoutes(settings),
    ...meRoutes(settings),
    ...operatorKybRoutes(ctx),
    ...operatorAccountRoutes(ctx),
    ...operatorNetworkRoutes(ctx, parts),
    ...operatorPolicyRoutes(ctx),
    ...proposalRoutes(ctx),
    supportSearchRoute(ctx, parts),
    ...supportAccessRoutes(ctx),
  ];
}

export function operatorSurface(ctx: ApiContext, parts: OperatorParts): Surface {
  return personSurface(parts.settings, operatorRoutes(ctx, parts));
}
