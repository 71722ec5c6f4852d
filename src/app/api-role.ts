import type { FastifyInstance } from 'fastify';
import { createKeyAuthenticator } from '#accounts/authenticate-api-key.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { addCellRoutes } from '#apis/cells/cell-routes.ts';
import { addCellPeopleRoutes } from '#apis/cells/people-routes.ts';
import { addMailPages } from '#apis/dashboard/person-link-page.ts';
import { deviceSurface } from '#apis/device/device-routes.ts';
import { pairingSurface } from '#apis/device/pairing-routes.ts';
import { balanceRoute } from '#apis/merchant/balance-routes.ts';
import { confirmRoute } from '#apis/merchant/confirm-routes.ts';
import { eventRoutes } from '#apis/merchant/event-routes.ts';
import { eventStreamRoute } from '#apis/merchant/event-stream-route.ts';
import { idempotencyRoutes } from '#apis/merchant/idempotency-key-routes.ts';
import { offlinePaymentRoutes } from '#apis/merchant/offline-routes.ts';
import { paymentRoutes } from '#apis/merchant/payment-routes.ts';
import { refundRoutes } from '#apis/merchant/refund-routes.ts';
import { requestLogRoute } from '#apis/merchant/request-log-routes.ts';
import { terminalRoutes } from '#apis/merchant/terminal-routes.ts';
import { webhookRoutes } from '#apis/merchant/webhook-endpoint-routes.ts';
import { createPayGate } from '#apis/pay/pay-page.ts';
import { paySurface } from '#apis/pay/pay-routes.ts';
import { createReceiptGate } from '#apis/pay/serve-receipt.ts';
import { createSolvencyGate } from '#apis/pay/solvency-page.ts';
import { createTagGate } from '#apis/pay/tag-page.ts';
import { addApplePassService } from '#apis/payer/apple-pass-service.ts';
import { addCardPage } from '#apis/payer/card-page.ts';
import { payerSurface } from '#apis/payer/payer-routes.ts';
import { liveRefusal } from '#apis/test-helpers/live-refusal.ts';
import { testHelperRoutes } from '#apis/test-helpers/test-helper-routes.ts';
import type { ApiDeps } from '#app/api-dependencies.ts';
import { createOperations } from '#app/api-operations.ts';
import { addChainRelay } from '#app/chain-relay.ts';
import { createContext } from '#app/create-api-context.ts';
import { peopleSurfaces, settingsOfRealms } from '#app/people-surfaces.ts';
import { operatorDoor } from '#app/restrict-operator-host.ts';
import { addSandboxLinks } from '#app/sandbox-links.ts';
import { addBrandFiles } from '#app/serve-brand-files.ts';
import { type SurfaceRoutes, surfaceDocuments } from '#app/surface-documents.ts';
import { webUrlOf } from '#core/web-url.ts';
import { anySurface, type Surface } from '#http/route.ts';
import { buildServer } from '#http/server.ts';
import { createHeldKeyCheck } from '#idempotency/held-key.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Config } from '#settings/config.ts';
import { addWebRoutes } from '#web/serve-apps.ts';

/** Creates the merchant API: `/api/v1`. */
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

/**
 * Returns the merchant API for people: if there is a standby, its lists are read from there. The
 * API for servers reads from the primary, because a server expects to find what it has just
 * written.
 */
function listsOfPeople(
  ctx: ApiContext,
  { databaseReadUrl }: Config,
  merchant: Surface<MerchantCaller>,
): Surface<MerchantCaller> {
  if (databaseReadUrl === null) return merchant;
  const db = { ...ctx.db, query: ctx.db.standby.query };
  const { routes } = merchantSurface({ ...ctx, db });
  const isList = (operationId: string) => operationId.startsWith('list');
  return {
    ...merchant,
    routes: merchant.routes.map((route, index) =>
      isList(route.operationId) ? (routes[index] ?? route) : route,
    ),
  };
}

/** Creates every API of the service, with the routes for the APIs' documents. */
export function createSurfaces(
  deps: ApiDeps,
  ctx: ApiContext,
): { readonly surfaces: readonly Surface[]; readonly routes: SurfaceRoutes } {
  const merchant = merchantSurface(ctx);
  const lists = listsOfPeople(ctx, deps.config, merchant);
  const { dashboard, operator } = peopleSurfaces(deps, ctx, lists);
  const device = deviceSurface(ctx);
  const pairing = pairingSurface(ctx);
  const payer = payerSurface(ctx);
  const payLinks = paySurface(ctx);
  const pairingRoutes = pairing.routes.map((route) => ({ ...route, path: `/pair${route.path}` }));
  return {
    surfaces: [
      ...[anySurface(merchant), dashboard, operator],
      ...[anySurface(device), anySurface(pairing), anySurface(payer), anySurface(payLinks)],
    ],
    routes: {
      merchant: merchant.routes,
      device: [...device.routes, ...pairingRoutes],
      payer: payer.routes,
      pay: payLinks.routes,
      dashboard: dashboard.routes,
      operator: operator.routes,
    },
  };
}

/** Builds the HTTP server with every surface; the caller makes it listen. */
export async function buildApi(deps: ApiDeps): Promise<FastifyInstance> {
  let app: FastifyInstance | null = null;
  const webUrl = () => webUrlOf(deps.config, app?.server.address());
  const ctx = createContext({ ...deps, webUrl });
  const { surfaces, routes } = createSurfaces(deps, ctx);
  const operations = createOperations(deps);
  app = await buildServer({
    ...deps,
    surfaces,
    limiter: operations.limiter,
    trustedProxies: deps.config.trustedProxies,
    https: deps.config.publicUrl?.startsWith('https:') === true,
    docsUrl: webUrl,
    onAnswered: operations.onAnswered,
    isThere: operatorDoor(deps.config),
    checkHeldKey: createHeldKeyCheck(deps.db),
  });
  const { cells } = deps.config;
  addCellRoutes(app, ctx, cells);
  addCellPeopleRoutes(app, deps.clock, { cells, settings: settingsOfRealms(deps) });
  addCardPage(app, ctx);
  addBrandFiles(app, deps);
  addApplePassService(app, ctx);
  addMailPages(app, ctx.people.merchant, ctx.clock);
  await operations.addTo(app, surfaceDocuments(routes));
  const { webFolder, config, sandboxLinks } = deps;
  if (sandboxLinks != null) addSandboxLinks(app, sandboxLinks);
  addChainRelay(app, deps);
  if (webFolder != null) {
    const nodes = deps.chains.flatMap((chain) => chain.config.publicRpcUrl ?? []);
    const mayAsk = { receipt: nodes, wallet: nodes, solvency: nodes };
    const gates = {
      pay: createPayGate(ctx),
      tag: createTagGate(ctx),
      receipt: createReceiptGate(ctx),
      solvency: createSolvencyGate(ctx),
    };
    await addWebRoutes(app, { ...config, folder: webFolder, mayAsk, gates });
  }
  return app;
}
