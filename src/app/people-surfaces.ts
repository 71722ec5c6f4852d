import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { searchOthers, signInElsewhere, waitingOfOthers } from '#apis/cells/people-routes.ts';
import { dashboardSurface } from '#apis/dashboard/dashboard-routes.ts';
import type { DashboardDeps } from '#apis/dashboard/person-route.ts';
import { surfaceSettings } from '#apis/dashboard/settings.ts';
import type { OperatorDeps } from '#apis/operator/operator-deps.ts';
import { operatorSurface } from '#apis/operator/operator-routes.ts';
import type { ApiDeps, createShared } from '#app/api-shared.ts';
import type { Surface } from '#http/route.ts';
import { maskedConfiguration } from '#ops/masked-configuration.ts';
import type { PeopleDeps } from '#people/people.ts';
import type { Realm } from '#people/user-queries.ts';
import { peopleKey } from '#settings/config.ts';

function realmSettings(deps: ApiDeps, realm: Realm) {
  const { config, db, wakeups } = deps;
  const { port } = config;
  const publicUrl = (realm === 'operator' ? config.operatorUrl : null) ?? config.publicUrl;
  // A network outside of production guards no real money, even with an external chain.
  const isSandbox = !config.production;
  const secretKey = peopleKey(deps.secret);
  const people = { db, wakeups, secretKey, publicUrl, port, isSandbox };
  const settings = surfaceSettings(people, realm);
  const { cells } = config;
  if (cells.others.length === 0) return settings;
  return { ...settings, elsewhere: signInElsewhere(cells) };
}

/** Returns the settings of both realms, for requests of other cells. */
export function settingsOfRealms(deps: ApiDeps) {
  return { merchant: realmSettings(deps, 'merchant'), operator: realmSettings(deps, 'operator') };
}

/** Returns the parts for merchants' people that lie outside of the routes. */
export function peopleDeps(deps: ApiDeps): PeopleDeps {
  return realmSettings(deps, 'merchant').people;
}

/** Returns the parts from which the routes of both realms are built. */
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
    operator: {
      ...shared,
      settings: settings('operator'),
      configuration,
      cells: {
        search: (wanted) => searchOthers(config.cells, wanted),
        others: () => waitingOfOthers(config.cells),
      },
    },
  };
}

/** Creates the dashboard (`/api/dashboard/v1`) and the operator API (`/api/operator/v1`). */
export function peopleSurfaces(
  deps: ApiDeps,
  shared: ReturnType<typeof createShared>,
  merchant: Surface<MerchantCaller>,
): { readonly dashboard: Surface; readonly operator: Surface } {
  const { dashboard, operator } = peopleParts(deps, shared, merchant);
  return { dashboard: dashboardSurface(dashboard), operator: operatorSurface(operator) };
}
