import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import type { PeopleDeps } from '#accounts/people.ts';
import type { Realm } from '#accounts/user-queries.ts';
import type { ApiDeps, createShared } from '#api-role.ts';
import { peopleKey } from '#config.ts';
import type { DashboardDeps } from '#dashboard/dashboard-deps.ts';
import { dashboardSurface } from '#dashboard/dashboard-routes.ts';
import { surfaceSettings } from '#dashboard/settings.ts';
import type { Surface } from '#http/route.ts';
import { maskedConfiguration } from '#ops/masked-configuration.ts';
import type { OperatorDeps } from '#ops/operator-deps.ts';
import { operatorSurface } from '#ops/operator-routes.ts';

function realmSettings(deps: ApiDeps, realm: Realm) {
  const { config, db, wakeups } = deps;
  const { publicUrl, port } = config;
  const people = { db, wakeups, secretKey: peopleKey(deps.secret), publicUrl, port };
  return surfaceSettings(people, realm);
}

/** What is about merchants' people, outside of the routes. */
export function peopleDeps(deps: ApiDeps): PeopleDeps {
  return realmSettings(deps, 'merchant').people;
}

/** What the routes of both realms are made from. */
function peopleParts(
  deps: ApiDeps,
  shared: ReturnType<typeof createShared>,
  merchant: Pick<Surface<MerchantCaller>, 'routes'>,
): { readonly dashboard: DashboardDeps; readonly operator: OperatorDeps } {
  const { config } = deps;
  const settings = (realm: Realm) => realmSettings(deps, realm);
  const merchantRoutes = merchant.routes;
  const configuration = () => maskedConfiguration(config);
  return {
    dashboard: { ...shared, settings: settings('merchant'), merchantRoutes },
    operator: { ...shared, settings: settings('operator'), configuration },
  };
}

/** The dashboard (`/api/dashboard/v1`) and the operator API (`/api/operator/v1`). */
export function peopleSurfaces(
  deps: ApiDeps,
  shared: ReturnType<typeof createShared>,
  merchant: Surface<MerchantCaller>,
): { readonly dashboard: Surface; readonly operator: Surface } {
  const { dashboard, operator } = peopleParts(deps, shared, merchant);
  return { dashboard: dashboardSurface(dashboard), operator: operatorSurface(operator) };
}
