import { accountRoutes } from '#dashboard/account-routes.ts';
import { apiKeyRoutes } from '#dashboard/api-key-routes.ts';
import { auditRoutes } from '#dashboard/audit-routes.ts';
import type { PersonCaller } from '#dashboard/caller.ts';
import type { DashboardDeps } from '#dashboard/dashboard-deps.ts';
import { exportRoutes } from '#dashboard/export-routes.ts';
import { feedRoutes } from '#dashboard/feed-routes.ts';
import { goLiveRoutes } from '#dashboard/go-live-routes.ts';
import { holdRoutes } from '#dashboard/hold-routes.ts';
import { kybRoutes } from '#dashboard/kyb-routes.ts';
import { meRoutes } from '#dashboard/me-routes.ts';
import { mountedRoutes } from '#dashboard/merchant-mount.ts';
import { moneyRoutes } from '#dashboard/money-routes.ts';
import { passwordRoutes } from '#dashboard/password-routes.ts';
import { refundRoutes } from '#dashboard/refund-routes.ts';
import { requestLogRoutes } from '#dashboard/request-log-routes.ts';
import { riskRoutes } from '#dashboard/risk-routes.ts';
import { searchRoutes } from '#dashboard/search-routes.ts';
import { sessionRoutes } from '#dashboard/session-routes.ts';
import { signUpRoutes } from '#dashboard/sign-up-routes.ts';
import { statisticsRoutes } from '#dashboard/statistics-routes.ts';
import { personSurface } from '#dashboard/surface.ts';
import { teamRoutes } from '#dashboard/team-routes.ts';
import { managedTerminalRoutes } from '#dashboard/terminal-routes.ts';
import { walletRoutes } from '#dashboard/wallet-routes.ts';
import type { AnyRoute, Surface } from '#http/route.ts';

/** Everything that is below one account. */
function accountRoutesOf(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  return [
    ...accountRoutes(deps),
    ...teamRoutes(deps),
    ...auditRoutes(deps),
    ...kybRoutes(deps),
    ...apiKeyRoutes(deps),
    ...managedTerminalRoutes(deps),
    ...goLiveRoutes(deps),
    ...moneyRoutes(deps),
    ...refundRoutes(deps),
    ...holdRoutes(deps),
    ...walletRoutes(deps),
    ...riskRoutes(deps),
    ...searchRoutes(deps),
    ...exportRoutes(deps),
    ...statisticsRoutes(deps),
    ...feedRoutes(deps),
    ...requestLogRoutes(deps),
    ...mountedRoutes(deps),
  ];
}

/** All routes of the dashboard API. */
export function dashboardRoutes(deps: DashboardDeps): AnyRoute<PersonCaller>[] {
  const { settings } = deps;
  return [
    ...sessionRoutes(settings),
    ...passwordRoutes(settings),
    ...signUpRoutes(settings),
    ...meRoutes(settings),
    ...accountRoutesOf(deps),
  ];
}

/** `/api/dashboard/v1`: what merchants' people use. */
export function dashboardSurface(deps: DashboardDeps): Surface {
  return personSurface(deps.settings, dashboardRoutes(deps));
}
