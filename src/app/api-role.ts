import type { FastifyInstance } from 'fastify';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { addCellRoutes } from '#apis/cells/cell-routes.ts';
import { addCellPeopleRoutes } from '#apis/cells/people-routes.ts';
import { addMailPages } from '#apis/dashboard/sessions/person-link-page.ts';
import { deviceSurface } from '#apis/device/device-routes.ts';
import { pairingSurface } from '#apis/device/pairing-routes.ts';
import { createPayGate } from '#apis/pay/pay-page.ts';
import { paySurface } from '#apis/pay/pay-routes.ts';
import { createReceiptGate } from '#apis/pay/serve-receipt.ts';
import { createSolvencyGate } from '#apis/pay/solvency-page.ts';
import { createTagGate } from '#apis/pay/tag-page.ts';
import { addApplePassService } from '#apis/payer/apple-pass-service.ts';
import { addCardPage } from '#apis/payer/card-page.ts';
import { payerSurface } from '#apis/payer/payer-routes.ts';
import type { ApiDeps } from '#app/api-dependencies.ts';
import { createOperations } from '#app/api-operations.ts';
import { addChainRelay } from '#app/chain-relay.ts';
import { createContext } from '#app/create-api-context.ts';
import { addFrontStatus } from '#app/front-status.ts';
import { merchantSurface } from '#app/merchant-surface.ts';
import { peopleSurfaces } from '#app/people-surfaces.ts';
import { settingsOfRealms } from '#app/realm-settings.ts';
import { addReferenceRoutes } from '#app/reference-routes.ts';
import { addSandboxLinks } from '#app/sandbox-links.ts';
import { addBrandFiles } from '#app/serve-brand-files.ts';
import { serveSurfaces } from '#app/serve-surfaces.ts';
import { type SurfaceRoutes, surfaceDocuments } from '#app/surface-documents.ts';
import { webUrlOf } from '#core/web-url.ts';
import { addPackagesRoutes } from '#docs/packages-routes.ts';
import { anySurface, type Surface } from '#http/route.ts';
import { packagesIn } from '#packages/build-packages.ts';
import type { ApiContext } from '#payments/api-context.ts';
import type { Config } from '#settings/config.ts';
import { addWebRoutes } from '#web/serve-apps.ts';

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
  app = await serveSurfaces(deps, surfaces, { operations, docsUrl: webUrl });
  const { cells } = deps.config;
  addCellRoutes(app, ctx, cells);
  addCellPeopleRoutes(app, deps.clock, { cells, settings: settingsOfRealms(deps) });
  addCardPage(app, ctx);
  addBrandFiles(app, deps);
  addApplePassService(app, ctx);
  addMailPages(app, ctx.people.merchant, ctx.clock);
  operations.addTo(app);
  const { dataDir, publicUrl } = deps.config;
  addPackagesRoutes(app, { publicUrl, own: packagesIn(dataDir) });
  const isSandbox = deps.sandboxLinks != null;
  await addReferenceRoutes(app, surfaceDocuments(routes), { isSandbox });
  const { webFolder, config, sandboxLinks } = deps;
  if (sandboxLinks != null) addSandboxLinks(app, sandboxLinks);
  addFrontStatus(app, deps);
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
