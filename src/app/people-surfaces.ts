import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { searchOthers, signInElsewhere, waitingOfOthers } from '#apis/cells/people-routes.ts';
import { dashboardSurface } from '#apis/dashboard/dashboard-routes.ts';
import { surfaceSettings } from '#apis/dashboard/person-surface-settings.ts';
import { operatorSurface } from '#apis/operator/operator-routes.ts';
import type { ApiDeps } from '#app/api-dependencies.ts';
import type { Surface } from '#http/route.ts';
import { maskedConfiguration } from '#ops/masked-configuration.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Realm } from '#people/user-queries.ts';
import { peopleKey } from '#settings/config.ts';

function realmSettings(deps: ApiDeps, realm: Realm) {
  const { config, db, wakeups } = deps;
  const { port } = config;
  const publicUrl = (realm === 'operator' ? config.operatorUrl : null) ?? config.publicUrl;
  // Outside production, a network guards no real money, even with an external chain.
  const isSandbox = !config.production;
  const secretKey = peopleKey(deps.secret);
  const people = { db, wakeups, secretKey, publicUrl, port, isSandbox };
  const settings = surfaceSettings(people, realm);
  const { cells } = config;
  if (cells.others.length === 0) return settings;
  return { ...settings, elsewhere: signInElsewhere(cells) };
}

/** Returns the settings of both realms, for requests from other cells. */
export function settingsOfRealms(deps: ApiDeps) {
  return { merchant: realmSettings(deps, 'merchant'), operator: realmSettings(deps, 'operator') };
}

/** Creates the dashboard (`/api/dashboard/v1`) and the operator API (`/api/operator/v1`). */
export function peopleSurfaces(
  deps: ApiDeps,
  ctx: ApiContext,
  merchant: Surface<MerchantCaller>,
): { readonly dashboard: Surface; readonly operator: Surface } {
  const { config } = deps;
  const settings = settingsOfRealms(deps);
  const dashboard = { settings: settings.merchant, merchantRoutes: merchant.routes };
  const operator = {
    settings: settings.operator,
    configuration: () => maskedConfiguration(config),
    cells: {
      search: (wanted: string) => searchOthers(config.cells, wanted),
      others: () => waitingOfOthers(config.cells),
    },
  };
  return { dashboard: dashboardSurface(ctx, dashboard), operator: operatorSurface(ctx, operator) };
}
