import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import type { Realm } from '#accounts/user-queries.ts';
import type { ApiDeps, createShared } from '#api-role.ts';
import { peopleKey } from '#config.ts';
import { dashboardSurface } from '#dashboard/dashboard-routes.ts';
import { surfaceSettings } from '#dashboard/settings.ts';
import type { Surface } from '#http/route.ts';
import { maskedConfiguration } from '#ops/masked-configuration.ts';
import { operatorSurface } from '#ops/operator-routes.ts';

/** The dashboard (`/api/dashboard/v1`) and the operator API (`/api/operator/v1`). */
export function peopleSurfaces(
  deps: ApiDeps,
  shared: ReturnType<typeof createShared>,
  merchant: Surface<MerchantCaller>,
): Surface[] {
  const { config, db, wakeups } = deps;
  const { publicUrl, port } = config;
  const people = { db, wakeups, secretKey: peopleKey(deps.secret), publicUrl, port };
  const settings = (realm: Realm) => surfaceSettings(people, realm);
  const merchantRoutes = merchant.routes;
  const configuration = () => maskedConfiguration(config);
  return [
    dashboardSurface({ ...shared, settings: settings('merchant'), merchantRoutes }),
    operatorSurface({ ...shared, settings: settings('operator'), configuration }),
  ];
}
