import type { FastifyInstance } from 'fastify';
import { createKeyAuthenticator } from '#accounts/authenticate.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { addMailPages } from '#apis/dashboard/person-link-page.ts';
import { deviceSurface } from '#apis/device/device-routes.ts';
import { pairingSurface } from '#apis/device/pairing-routes.ts';
import type { TestPasses } from '#apis/device/test-pass-routes.ts';
import { createTerminalRoom } from '#apis/device/waiting-rooms.ts';
import { balanceRoute } from '#apis/merchant/balance-routes.ts';
import { confirmRoute } from '#apis/merchant/confirm-routes.ts';
import { eventRoutes } from '#apis/merchant/event-routes.ts';
import { eventStreamRoute } from '#apis/merchant/event-stream-route.ts';
import { idempotencyRoutes } from '#apis/merchant/idempotency-key-routes.ts';
import { paymentRoutes } from '#apis/merchant/payment-routes.ts';
import { refundRoutes } from '#apis/merchant/refund-routes.ts';
import { terminalRoutes } from '#apis/merchant/terminal-routes.ts';
import { webhookRoutes } from '#apis/merchant/webhook-endpoint-routes.ts';
import { paySurface } from '#apis/pay/pay-routes.ts';
import { addCardPage } from '#apis/payer/card-page.ts';
import { createDomainCheck } from '#apis/payer/own-domain.ts';
import { payerSurface } from '#apis/payer/routes.ts';
import { createConfirmationRoom, createRequestRoom } from '#apis/payer/waiting-rooms.ts';
import { liveRefusal } from '#apis/test-helpers/live-refusal.ts';
import { testHelperRoutes } from '#apis/test-helpers/routes.ts';
import { createOperations } from '#app/api-operations.ts';
import { peopleDeps, peopleSurfaces } from '#app/people-surfaces.ts';
import { addSandboxLinks, type SandboxLinks } from '#app/sandbox-links.ts';
import { type SurfaceRoutes, surfaceDocuments } from '#app/surface-documents.ts';
import type { IdKey } from '#core/ids.ts';
import { webUrlOf } from '#core/web-url.ts';
import type { LoopDeps } from '#db/loop-deps.ts';
import { createEventStreams } from '#events/event-streams.ts';
import type { Drain } from '#http/drain.ts';
import { anySurface, type Surface } from '#http/route.ts';
import { buildServer } from '#http/server.ts';
import { createHeldKeyCheck } from '#idempotency/held-key.ts';
import { createKeyReader } from '#idempotency/read-key.ts';
import type { ProcessHealth } from '#ops/process-health.ts';
import { NO_PASS_FILES, type PassFiles } from '#payers/pass-files.ts';
import { createIntentCreator } from '#payments/create.ts';
import { createIntentRoom } from '#payments/intent-waiting-room.ts';
import { createIntentPayer } from '#payments/pay.ts';
import { createPreflight } from '#payments/preflight.ts';
import { createIntentReader } from '#payments/read-intent.ts';
import { serveReceiptsAt } from '#payments/receipt-url.ts';
import type { Config } from '#settings/config.ts';
import { cardKey, deriveKey, webhookKey } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { createSettlementNumbers } from '#settlement/numbers.ts';
import type { Readiness } from '#settlement/readiness.ts';
import { addWebRoutes } from '#web/routes.ts';
import { addressPolicy } from '#webhooks/address-check.ts';
import { systemResolver } from '#webhooks/resolver.ts';

export interface ApiDeps extends LoopDeps {
  readonly config: Config;
  readonly secret: Buffer;
  readonly idKey: IdKey;
  readonly chains: readonly Chain[];
  readonly readiness: Readiness;
  /** What the process says of itself, when another port says it too. */
  readonly health?: ProcessHealth;
  /** Takes the server out of service; default: one that nobody begins. */
  readonly drain?: Drain;
  /** The demo pass that test helpers tap when none is named; null without demo data. */
  readonly defaultPass: string | null;
  /** What terminals in test mode may play the customer with; null without demo data. */
  readonly testPasses?: TestPasses | null;
  /** Makes passes for the wallets of phones; default: none. */
  readonly passFiles?: PassFiles;
  /** Where people reach the web apps; default: as configured. */
  readonly webUrl?: () => string;
  /** The folder with the built web apps; null: only the APIs are served. */
  readonly webFolder?: string | null;
  /** For the browser of a sandbox's own machine; null without demo data. */
  readonly sandboxLinks?: SandboxLinks | null;
}

/** What several surfaces share: one batcher, one waiting room each per process. */
export function createShared(deps: ApiDeps) {
  const intents = createIntentRoom(deps);
  const readKey = createKeyReader(deps.db);
  const { settleWithinS } = deps.config;
  const preflight = createPreflight(deps.chains);
  const terms = {
    settleWithinS,
    cardKey: cardKey(deps.secret),
    staticPassConfirmFrom: deps.config.staticPassConfirmFrom,
  };
  const pay = { ...deps, ...terms, intents, readKey, preflight };
  return {
    ...deps,
    ...terms,
    passFiles: deps.passFiles ?? NO_PASS_FILES,
    push: deps.config.push,
    webUrl: deps.webUrl ?? (() => webUrlOf(deps.config)),
    cursorKey: deriveKey(deps.secret, 'cursors'),
    createIntent: createIntentCreator({ ...deps, numbers: createSettlementNumbers(deps.db) }),
    readIntent: createIntentReader(deps),
    payIntent: createIntentPayer(pay),
    intents,
    readKey,
    terminals: createTerminalRoom(deps),
    streams: createEventStreams(deps),
    confirmations: createConfirmationRoom(deps),
    requests: createRequestRoom(deps),
    signIn: {
      db: deps.db,
      chains: deps.chains.map((chain) => chain.config),
      isOwnDomain: createDomainCheck(deps.config.publicUrl, deps.config.lan),
    },
    secretKey: webhookKey(deps.secret),
    network: {
      policy: addressPolicy(deps.config.webhookAllowCidrs, {
        ownMachine: deps.config.isSandbox,
      }),
      resolver: systemResolver(),
    },
  };
}

/** The merchant API: `/api/v1`. */
export function merchantSurface(shared: ReturnType<typeof createShared>): Surface<MerchantCaller> {
  return {
    root: '/api/v1',
    authenticate: createKeyAuthenticator(shared.db),
    authorize: liveRefusal,
    routes: [
      ...paymentRoutes(shared),
      confirmRoute(shared),
      ...refundRoutes(shared),
      ...terminalRoutes(shared),
      balanceRoute(shared),
      ...eventRoutes(shared),
      eventStreamRoute(shared),
      ...webhookRoutes(shared),
      ...idempotencyRoutes(shared),
      ...testHelperRoutes(shared),
    ],
  };
}

/**
 * The same routes for people: their lists are read from a standby, where there is one. A server
 * reads what it has just written, so its lists stay with the primary.
 */
function listsOfPeople(
  shared: ReturnType<typeof createShared>,
  merchant: Surface<MerchantCaller>,
): Surface<MerchantCaller> {
  if (shared.config.databaseReadUrl === null) return merchant;
  const db = { ...shared.db, query: shared.db.standby.query };
  const { routes } = merchantSurface({ ...shared, db });
  const isList = (operationId: string) => operationId.startsWith('list');
  return {
    ...merchant,
    routes: merchant.routes.map((route, index) =>
      isList(route.operationId) ? (routes[index] ?? route) : route,
    ),
  };
}

/** Every API of the service, and its routes for the documents. */
export function createSurfaces(deps: ApiDeps): {
  readonly surfaces: readonly Surface[];
  readonly routes: SurfaceRoutes;
} {
  const shared = createShared(deps);
  const merchant = merchantSurface(shared);
  const { dashboard, operator } = peopleSurfaces(deps, shared, listsOfPeople(shared, merchant));
  const device = deviceSurface(shared);
  const pairing = pairingSurface(shared);
  const payer = payerSurface(shared);
  const payLinks = paySurface(shared);
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

/** The HTTP server with every surface; the caller listens. */
export async function buildApi(deps: ApiDeps): Promise<FastifyInstance> {
  let app: FastifyInstance | null = null;
  const webUrl = () => webUrlOf(deps.config, app?.server.address());
  serveReceiptsAt({ idKey: deps.idKey, webUrl });
  const { surfaces, routes } = createSurfaces({ ...deps, webUrl });
  const operations = createOperations(deps);
  app = await buildServer({
    ...deps,
    surfaces,
    limiter: operations.limiter,
    trustedProxies: deps.config.trustedProxies,
    https: deps.config.publicUrl?.startsWith('https:') === true,
    onAnswered: operations.onAnswered,
    checkHeldKey: createHeldKeyCheck(deps.db),
  });
  addCardPage(app, deps);
  addMailPages(app, { ...deps, people: peopleDeps(deps) });
  await operations.addTo(app, surfaceDocuments(routes));
  const { webFolder, config, sandboxLinks } = deps;
  if (sandboxLinks != null) addSandboxLinks(app, sandboxLinks);
  if (webFolder != null) {
    const nodes = deps.chains.flatMap((chain) => chain.config.publicRpcUrl ?? []);
    const mayAsk = { receipt: nodes, wallet: nodes };
    await addWebRoutes(app, { ...config, folder: webFolder, mayAsk });
  }
  return app;
}
