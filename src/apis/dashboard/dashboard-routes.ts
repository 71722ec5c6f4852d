import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { accountRoutes } from '#apis/dashboard/account/account-routes.ts';
import { apiKeyRoutes } from '#apis/dashboard/account/api-key-routes.ts';
import { auditRoutes } from '#apis/dashboard/account/audit-routes.ts';
import { brandRoutes } from '#apis/dashboard/account/brand-routes.ts';
import { kybRoutes } from '#apis/dashboard/account/kyb-routes.ts';
import { requestLogRoutes } from '#apis/dashboard/account/request-log-routes.ts';
import { riskPreviewRoute } from '#apis/dashboard/account/risk-preview-routes.ts';
import { riskRoutes } from '#apis/dashboard/account/risk-routes.ts';
import type { SurfaceSettings } from '#apis/dashboard/authorize-person.ts';
import { endingWithRole } from '#apis/dashboard/end-with-role.ts';
import { exportRoutes } from '#apis/dashboard/exports/export-routes.ts';
import { scheduleRoutes } from '#apis/dashboard/exports/schedule-routes.ts';
import { mountedRoutes } from '#apis/dashboard/mount-merchant-routes.ts';
import { organizationExportRoutes } from '#apis/dashboard/organizations/organization-exports.ts';
import { organizationListRoutes } from '#apis/dashboard/organizations/organization-lists.ts';
import { organizationRoutes } from '#apis/dashboard/organizations/organization-routes.ts';
import { organizationTotalsRoute } from '#apis/dashboard/organizations/organization-totals.ts';
import { declinedRoute } from '#apis/dashboard/payments/declined-routes.ts';
import { refundRoutes } from '#apis/dashboard/payments/refund-routes.ts';
import { searchRoutes } from '#apis/dashboard/payments/search-routes.ts';
import { timelineRoute } from '#apis/dashboard/payments/timeline-routes.ts';
import { goLiveRoutes } from '#apis/dashboard/payouts/go-live-routes.ts';
import { holdRoutes } from '#apis/dashboard/payouts/hold-routes.ts';
import { moneyRoutes } from '#apis/dashboard/payouts/money-routes.ts';
import { walletRoutes } from '#apis/dashboard/payouts/wallet-routes.ts';
import type { PersonRoute } from '#apis/dashboard/person-route.ts';
import { personSurface } from '#apis/dashboard/person-surface.ts';
import { salesReportRoutes } from '#apis/dashboard/reports/sales-report-routes.ts';
import { meRoutes } from '#apis/dashboard/sessions/own-profile-routes.ts';
import { passwordRoutes } from '#apis/dashboard/sessions/password-routes.ts';
import { sessionRoutes } from '#apis/dashboard/sessions/session-routes.ts';
import { signUpRoutes } from '#apis/dashboard/sessions/sign-up-routes.ts';
import { healthRoute } from '#apis/dashboard/statistics/health-routes.ts';
import { statisticsRoutes } from '#apis/dashboard/statistics/statistics-routes.ts';
import { totalsRoutes } from '#apis/dashboard/statistics/totals-routes.ts';
import { managerCodeRoute } from '#apis/dashboard/team/manager-code-route.ts';
import { staffRoutes } from '#apis/dashboard/team/staff-routes.ts';
import { teamRoutes } from '#apis/dashboard/team/team-routes.ts';
import { catalogueRoutes } from '#apis/dashboard/terminals/catalogue-routes.ts';
import { locationRoutes } from '#apis/dashboard/terminals/location-routes.ts';
import { offlineSalesRoutes } from '#apis/dashboard/terminals/offline-sales-routes.ts';
import { managedTerminalRoutes } from '#apis/dashboard/terminals/terminal-routes.ts';
import { endpointRoutes } from '#apis/dashboard/webhooks/endpoint-routes.ts';
import { feedRoutes } from '#apis/dashboard/webhooks/feed-routes.ts';
import { receiverCheckRoute } from '#apis/dashboard/webhooks/receiver-routes.ts';
import { undeliveredRoute } from '#apis/dashboard/webhooks/undelivered-routes.ts';
import type { AnyRoute, Surface } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';

interface DashboardParts {
  readonly settings: SurfaceSettings;
  /** The routes of the merchant API; the dashboard uses their handlers. */
  readonly merchantRoutes: readonly AnyRoute<MerchantCaller>[];
}

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
    ...staffRoutes(ctx),
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
    ...salesReportRoutes(ctx),
    ...feedRoutes(ctx),
    ...requestLogRoutes(ctx),
    timelineRoute(ctx),
    receiverCheckRoute(ctx),
    undeliveredRoute(ctx),
    ...mountedRoutes(ctx, merchantRoutes),
  ];
}

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

export function dashboardSurface(ctx: ApiContext, parts: DashboardParts): Surface {
  return personSurface(parts.settings, dashboardRoutes(ctx, parts));
}
