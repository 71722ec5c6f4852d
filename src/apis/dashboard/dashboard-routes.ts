import { accountRoutes } from '#apis/dashboard/account-routes.ts';
import { apiKeyRoutes } from '#apis/dashboard/api-key-routes.ts';
import { auditRoutes } from '#apis/dashboard/audit-routes.ts';
import { brandRoutes } from '#apis/dashboard/brand-routes.ts';
import { catalogueRoutes } from '#apis/dashboard/catalogue-routes.ts';
import { declinedRoutes } from '#apis/dashboard/declined-routes.ts';
import { endpointRoutes } from '#apis/dashboard/endpoint-routes.ts';
import { exportRoutes } from '#apis/dashboard/export-routes.ts';
import { feedRoutes } from '#apis/dashboard/feed-routes.ts';
import { goLiveRoutes } from '#apis/dashboard/go-live-routes.ts';
import { healthRoutes } from '#apis/dashboard/health-routes.ts';
import { holdRoutes } from '#apis/dashboard/hold-routes.ts';
import { kybRoutes } from '#apis/dashboard/kyb-routes.ts';
import { managerCodeRoute } from '#apis/dashboard/manager-code-route.ts';
import { meRoutes } from '#apis/dashboard/me-routes.ts';
import { mountedRoutes } from '#apis/dashboard/merchant-mount.ts';
import { moneyRoutes } from '#apis/dashboard/money-routes.ts';
import { passwordRoutes } from '#apis/dashboard/password-routes.ts';
import type { DashboardDeps, PersonRoute } from '#apis/dashboard/person-route.ts';
import { personSurface } from '#apis/dashboard/person-surface.ts';
import { receiverRoutes } from '#apis/dashboard/receiver-routes.ts';
import { refundRoutes } from '#apis/dashboard/refund-routes.ts';
import { requestLogRoutes } from '#apis/dashboard/request-log-routes.ts';
import { riskPreviewRoutes } from '#apis/dashboard/risk-preview-routes.ts';
import { riskRoutes } from '#apis/dashboard/risk-routes.ts';
import { searchRoutes } from '#apis/dashboard/search-routes.ts';
import { sessionRoutes } from '#apis/dashboard/session-routes.ts';
import { signUpRoutes } from '#apis/dashboard/sign-up-routes.ts';
import { statisticsRoutes } from '#apis/dashboard/statistics-routes.ts';
import { teamRoutes } from '#apis/dashboard/team-routes.ts';
import { managedTerminalRoutes } from '#apis/dashboard/terminal-routes.ts';
import { timelineRoutes } from '#apis/dashboard/timeline-routes.ts';
import { totalsRoutes } from '#apis/dashboard/totals-routes.ts';
import { undeliveredRoutes } from '#apis/dashboard/undelivered-routes.ts';
import { walletRoutes } from '#apis/dashboard/wallet-routes.ts';
import type { Surface } from '#http/route.ts';

/** Returns all routes below one account. */
function accountRoutesOf(deps: DashboardDeps): PersonRoute[] {
  return [
    ...accountRoutes(deps),
    ...teamRoutes(deps),
    ...auditRoutes(deps),
    ...kybRoutes(deps),
    ...brandRoutes(deps),
    ...apiKeyRoutes(deps),
    ...managedTerminalRoutes(deps),
    managerCodeRoute(deps),
    ...catalogueRoutes(deps),
    ...endpointRoutes(deps),
    ...goLiveRoutes(deps),
    ...moneyRoutes(deps),
    ...refundRoutes(deps),
    ...holdRoutes(deps),
    ...walletRoutes(deps),
    ...riskRoutes(deps),
    ...riskPreviewRoutes(deps),
    ...searchRoutes(deps),
    ...declinedRoutes(deps),
    ...exportRoutes(deps),
    ...statisticsRoutes(deps),
    ...healthRoutes(deps),
    ...totalsRoutes(deps),
    ...feedRoutes(deps),
    ...requestLogRoutes(deps),
    ...timelineRoutes(deps),
    ...receiverRoutes(deps),
    ...undeliveredRoutes(deps),
    ...mountedRoutes(deps),
  ];
}

/** Returns all routes of the dashboard API. */
export function dashboardRoutes(deps: DashboardDeps): PersonRoute[] {
  const { settings } = deps;
  return [
    ...sessionRoutes(settings),
    ...passwordRoutes(settings),
    ...signUpRoutes(settings),
    ...meRoutes(settings),
    ...accountRoutesOf(deps),
  ];
}

/** Creates `/api/dashboard/v1`, for the merchants' people. */
export function dashboardSurface(deps: DashboardDeps): Surface {
  return personSurface(deps.settings, dashboardRoutes(deps));
}
