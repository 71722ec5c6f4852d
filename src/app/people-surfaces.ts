import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { searchOthers, waitingOfOthers } from '#apis/cells/people-routes.ts';
import { dashboardSurface } from '#apis/dashboard/dashboard-routes.ts';
import { operatorSurface } from '#apis/operator/operator-routes.ts';
import type { ApiDeps } from '#app/api-dependencies.ts';
import { settingsOfRealms } from '#app/realm-settings.ts';
import type { Surface } from '#http/route.ts';
import { maskedConfiguration } from '#ops/masked-configuration.ts';
import type { ApiContext } from '#payments/api-context.ts';

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
      search: (text: string) => searchOthers(config.cells, text),
      others: () => waitingOfOthers(config.cells),
    },
  };
  return { dashboard: dashboardSurface(ctx, dashboard), operator: operatorSurface(ctx, operator) };
}
