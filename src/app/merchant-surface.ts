import { createKeyAuthenticator } from '#accounts/authenticate-api-key.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { balanceRoute } from '#apis/merchant/balance-routes.ts';
import { confirmRoute } from '#apis/merchant/confirm-routes.ts';
import { eventRoutes } from '#apis/merchant/event-routes.ts';
import { eventStreamRoute } from '#apis/merchant/event-stream-route.ts';
import { idempotencyRoutes } from '#apis/merchant/idempotency-key-routes.ts';
import { offlinePaymentRoutes } from '#apis/merchant/offline-routes.ts';
import { paymentRoutes } from '#apis/merchant/payment-routes.ts';
import { refundRoutes } from '#apis/merchant/refund-routes.ts';
import { requestLogRoute } from '#apis/merchant/request-log-routes.ts';
import { shiftReportRoutes } from '#apis/merchant/shift-report-routes.ts';
import { terminalRoutes } from '#apis/merchant/terminal-routes.ts';
import { webhookRoutes } from '#apis/merchant/webhook-endpoint-routes.ts';
import { liveRefusal } from '#apis/test-helpers/live-refusal.ts';
import { testHelperRoutes } from '#apis/test-helpers/test-helper-routes.ts';
import type { Surface } from '#http/route.ts';
import type { ApiContext } from '#payments/api-context.ts';

export function merchantSurface(ctx: ApiContext): Surface<MerchantCaller> {
  return {
    root: '/api/v1',
    authenticate: createKeyAuthenticator(ctx.db),
    authorize: liveRefusal,
    routes: [
      ...paymentRoutes(ctx),
      ...offlinePaymentRoutes(ctx),
      confirmRoute(ctx),
      ...refundRoutes(ctx),
      ...terminalRoutes(ctx),
      ...shiftReportRoutes(ctx),
      balanceRoute(ctx),
      ...eventRoutes(ctx),
      eventStreamRoute(ctx),
      ...webhookRoutes(ctx),
      ...idempotencyRoutes(ctx),
      requestLogRoute(ctx),
      ...testHelperRoutes(ctx),
    ],
  };
}
