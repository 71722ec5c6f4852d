import { type ApiDeps, createShared, merchantSurface } from '#api-role.ts';
import { readConfig } from '#config.ts';
import type { PersonCaller } from '#dashboard/caller.ts';
import { dashboardRoutes } from '#dashboard/dashboard-routes.ts';
import type { AnyRoute } from '#http/route.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';
import { operatorRoutes } from '#ops/operator-routes.ts';
import { peopleParts } from '#people-surfaces.ts';

/** Declarations need no working parts; only handlers would, and nobody calls them. */
const NO_PARTS = {
  secret: Buffer.alloc(32),
  chains: [],
  config: readConfig({}, []),
} as unknown as ApiDeps;

/** Every route of the merchant API as it is declared. */
export function declaredMerchantRoutes(): readonly DeclaredRoute[] {
  return merchantSurface(createShared(NO_PARTS)).routes;
}

/** Every route of the dashboard and of the operator API as it is declared. */
export function declaredPeopleRoutes(): {
  readonly dashboard: readonly AnyRoute<PersonCaller>[];
  readonly operator: readonly AnyRoute<PersonCaller>[];
} {
  const shared = createShared(NO_PARTS);
  const parts = peopleParts(NO_PARTS, shared, merchantSurface(shared));
  return {
    dashboard: dashboardRoutes(parts.dashboard),
    operator: operatorRoutes(parts.operator),
  };
}
