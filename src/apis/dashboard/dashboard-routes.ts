import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { accountRoutes } from '#apis/dashboard/account-routes.ts';
import { apiKeyRoutes } from '#apis/dashboard/api-key-routes.ts';
import { auditRoutes } from '#apis/dashboard/audit-routes.ts';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { brandRoutes } from '#apis/dashboard/brand-routes.ts';
import { catalogueRoutes } from '#apis/dashboard/catalogue-routes.ts';
import { declinedRoute } from '#apis/dashboard/declined-routes.ts';
import { endingWithRole } from '#apis/dashboard/end-with-role.ts';
import { endpointRoutes } from '#apis/dashboard/endpoint-routes.ts';
import { exportRoutes } from '#apis/dashboard/export-routes.ts';
import { feedRoutes } from '#apis/dashboard/feed-routes.ts';
import { goLiveRoutes } from '#apis/dashboard/go-live-routes.ts';
import { healthRoute } from '#apis/dashboard/health-routes.ts';
import { holdRoutes } from '#apis/dashboard/hold-routes.ts';
import { kybRoutes } from '#apis/dashboard/kyb-routes.ts';
import { locationRoutes } from '#apis/dashboard/location-routes.ts';
import { managerCodeRoute } from '#apis/dashboard/manager-code-route.ts';
import { moneyRoutes } from '#apis/dashboard/money-routes.ts';
import { mountedRoutes } from '#apis/dashboard/mount-merchant-routes.ts';
import { offlineSalesRoutes } from '#apis/dashboard/offline-sales-routes.ts';
import { organizationExportRoutes } from '#apis/dashboard/organization-exports.ts';
import { organizationListRoutes } from '#apis/dashboard/organization-lists.ts';
import { organizationRoutes } from '#apis/dashboard/organization-routes.ts';
import { organizationTotalsRoute } from '#apis/dashboard/organization-totals.ts';
import { meRoutes } from '#apis/dashboard/own-profile-routes.ts';
import { passwordRoutes } from '#apis/dashboard/password-routes.ts';
import type { PersonRoute } from '#apis/dashboard/person-route.ts';
import { personSurface } from '#apis/dashboard/person-surface.ts';
import { receiverCheckRoute } from '#apis/dashboard/receiver-routes.ts';
import { refundRoutes } from '#apis/dashboard/refund-routes.ts';
import { requestLogRoutes } from '#apis/dashboard/request-log-routes.ts';
import { riskPreviewRoute } from '#apis/dashboard/risk-preview-routes.ts';
import { riskRoutes } from '#apis/dashboard/risk-routes.ts';
import { scheduleRoutes } from '#apis/dashboard/schedule-routes.ts';
import { searchRoutes } from '#apis/dashboard/search-routes.ts';
import { sessionRoutes } from '#apis/dashboard/session-routes.ts';
import { signUpRoutes } from '#apis/dashboard/sign-up-routes.ts';
import { statisticsRoutes } from '#apis/dashboard/statistics-routes.ts';
import { teamRoutes } from '#apis/dashboard/team-routes.ts';
import { managedTerminalRoutes } from '#apis/dashboard/terminal-routes.ts';
import { timelineRoute } from '#apis/dashboard/timeline-routes.ts';
import { totalsRoutes } from '#apis/dashboard/totals-routes.ts';
import { undeliveredRoute } from '#apis/dashboard/undelivered-routes.ts';
import { walletRoutes } from '#apis/dashboard/wallet-routes.ts';
import type { AnyRoute, Surface } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';

/** The dependencies of the dashboard's routes besides the process context. */
interface DashboardParts {
  readonly settings: SurfaceSettings;
  /** The routes of the merchant API; the dashboard uses their handlers. */
  readonly merchantRoutes: readonly AnyRoute<MerchantCaller>[];
}

/** Returns all routes below one account. */
function accountRoutesOf(ctx: ApiContext, { merchantRoutes }: DashboardParts): PersonRoute[] {
  return [
    ...accountRoutes(ctx),
    ...teamRoutes(ctx),
    ...auditRoutes(ctx),
    ...kybRoutes(ctx),
    ...brandRoutes(ctx),
    ...apiKeyRoutes(ctx),
    ...managedTerminalRoutes(ctx),
    ...offlineSalesRoutes(ctx),
    managerCodeRoute(ctx),
    ...catalogueRoutes(ctx),
    ...endpointRoutes(ctx),
    ...goLiveRoutes(ctx),
    ...moneyRoutes(ctx),
    ...refundRoutes(ctx),
    ...holdRoutes(ctx),
    ...walletRoutes(ctx),
    ...riskRoutes(ctx),
    riskPreviewRoute(ctx),
    ...searchRoutes(ctx),
    declinedRoute(ctx),
    ...exportRoutes(ctx),
    ...scheduleRoutes(ctx),
    ...statisticsRoutes(ctx),
    healthRoute(ctx),
    ...totalsRoutes(ctx),
    ...feedRoutes(ctx),
    ...requestLogRoutes(ctx),
    timelineRoute(ctx),
    receiverCheckRoute(ctx),
    undeliveredRoute(ctx),
    ...mountedRoutes(ctx, merchantRoutes),
  ];
}

/** Returns all routes of the dashboard API. */
export function dashboardRoutes(ctx: ApiContext, parts: DashboardParts): PersonRoute[] {
  const { settings } = parts;
  return [
    ...sessionRoutes(settings),
    ...passwordRoutes(settings),
    ...signUpRoutes(settings),
    ...meRoutes(settings),
    ...organizationRoutes(ctx),
    ...locationRoutes(ctx),
    ...organizationListRoutes(ctx),
    organizationTotalsRoute(ctx),
    ...organizationExportRoutes(ctx),
    ...accountRoutesOf(ctx, parts),
  ].map(endingWithRole(ctx));
}

/** Creates `/api/dashboard/v1`, for the merchants' people. */
export function dashboardSurface(ctx: ApiContext, parts: DashboardParts): Surface {
  return personSurface(parts.settings, dashboardRoutes(ctx, parts));
}
