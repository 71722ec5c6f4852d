import type { FastifyInstance } from 'fastify';
import { createKeyAuthenticator } from '#accounts/authenticate.ts';
import type { MerchantCaller } from '#accounts/merchant-caller.ts';
import { createOperations } from '#api-operations.ts';
import type { Config } from '#config.ts';
import { deriveKey, webhookKey } from '#config.ts';
import type { Clock } from '#core/clock.ts';
import type { IdKey } from '#core/derived-ids.ts';
import type { Log } from '#core/log.ts';
import { addHoldPage } from '#dashboard/hold-page.ts';
import type { Database } from '#db/database.ts';
import type { Wakeups } from '#db/wakeups.ts';
import { eventRoutes } from '#events/routes.ts';
import { anySurface, type Surface } from '#http/route.ts';
import { buildServer } from '#http/server.ts';
import { createHeldKeyCheck } from '#idempotency/held-key.ts';
import { createKeyReader } from '#idempotency/read-key.ts';
import { idempotencyRoutes } from '#idempotency/routes.ts';
import type { ProcessHealth } from '#ops/process-health.ts';
import { createDomainCheck } from '#payer-app/own-domain.ts';
import { createConfirmationRoom, createRequestRoom } from '#payer-app/rooms.ts';
import { payerSurface } from '#payer-app/routes.ts';
import { balanceRoute } from '#payments/balance-routes.ts';
import { confirmRoute } from '#payments/confirm-routes.ts';
import { createIntentCreator } from '#payments/create.ts';
import { createIntentRoom } from '#payments/intent-room.ts';
import { createIntentPayer } from '#payments/pay.ts';
import { createPreflight } from '#payments/preflight.ts';
import { createIntentReader } from '#payments/read-intent.ts';
import { paymentRoutes } from '#payments/routes.ts';
import { peopleDeps, peopleSurfaces } from '#people-surfaces.ts';
import { refundRoutes } from '#refunds/routes.ts';
import type { Chain } from '#settlement/chain.ts';
import { createSettlementNumbers } from '#settlement/numbers.ts';
import type { Readiness } from '#settlement/readiness.ts';
import { type SurfaceRoutes, surfaceDocuments } from '#surface-documents.ts';
import { deviceSurface } from '#terminals/device-routes.ts';
import { pairingSurface } from '#terminals/pairing-routes.ts';
import { createTerminalRoom } from '#terminals/rooms.ts';
import { terminalRoutes } from '#terminals/routes.ts';
import { liveRefusal } from '#test-helpers/live-refusal.ts';
import { testHelperRoutes } from '#test-helpers/routes.ts';
import { addressPolicy } from '#webhooks/address-check.ts';
import { systemResolver } from '#webhooks/resolver.ts';
import { webhookRoutes } from '#webhooks/routes.ts';

export interface ApiDeps {
  readonly config: Config;
  readonly secret: Buffer;
  readonly idKey: IdKey;
  readonly db: Database;
  readonly wakeups: Wakeups;
  readonly clock: Clock;
  readonly log: Log;
  readonly chains: readonly Chain[];
  readonly readiness: Readiness;
  /** What the process says of itself, when another port says it too. */
  readonly health?: ProcessHealth;
  /** The demo pass that test helpers tap when none is named; null without demo data. */
  readonly defaultPass: string | null;
}

/** What several surfaces share: one batcher, one waiting room each per process. */
export function createShared(deps: ApiDeps) {
  const intents = createIntentRoom(deps);
  const readKey = createKeyReader(deps.db);
  const { settleWithinS } = deps.config;
  const preflight = createPreflight(deps.chains);
  const pay = { ...deps, intents, readKey, preflight, settleWithinS };
  return {
    ...deps,
    settleWithinS,
    cursorKey: deriveKey(deps.secret, 'cursors'),
    createIntent: createIntentCreator({ ...deps, numbers: createSettlementNumbers(deps.db) }),
    readIntent: createIntentReader(deps),
    payIntent: createIntentPayer(pay),
    intents,
    readKey,
    terminals: createTerminalRoom(deps),
    confirmations: createConfirmationRoom(deps),
    requests: createRequestRoom(deps),
    signIn: {
      db: deps.db,
      chains: deps.chains.map((chain) => chain.config),
      isOwnDomain: createDomainCheck(deps.config.publicUrl),
    },
    secretKey: webhookKey(deps.secret),
    network: {
      policy: addressPolicy(deps.config.webhookAllowCidrs),
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
      ...webhookRoutes(shared),
      ...idempotencyRoutes(shared),
      ...testHelperRoutes(shared),
    ],
  };
}

/** Every API of the service, and its routes for the documents. */
export function createSurfaces(deps: ApiDeps): {
  readonly surfaces: readonly Surface[];
  readonly routes: SurfaceRoutes;
} {
  const shared = createShared(deps);
  const merchant = merchantSurface(shared);
  const { dashboard, operator } = peopleSurfaces(deps, shared, merchant);
  const device = deviceSurface(shared);
  const pairing = pairingSurface(shared);
  const payer = payerSurface(shared);
  const pairingRoutes = pairing.routes.map((route) => ({ ...route, path: '/pair' }));
  return {
    surfaces: [
      ...[anySurface(merchant), dashboard, operator],
      ...[anySurface(device), anySurface(pairing), anySurface(payer)],
    ],
    routes: {
      merchant: merchant.routes,
      device: [...device.routes, ...pairingRoutes],
      payer: payer.routes,
      dashboard: dashboard.routes,
      operator: operator.routes,
    },
  };
}

/** The HTTP server with every surface; the caller listens. */
export async function buildApi(deps: ApiDeps): Promise<FastifyInstance> {
  const { surfaces, routes } = createSurfaces(deps);
  const operations = createOperations(deps);
  const app = await buildServer({
    ...deps,
    surfaces,
    limiter: operations.limiter,
    trustedProxies: deps.config.trustedProxies,
    https: deps.config.publicUrl?.startsWith('https:') === true,
    onAnswered: operations.onAnswered,
    checkHeldKey: createHeldKeyCheck(deps.db),
  });
  addHoldPage(app, { ...deps, people: peopleDeps(deps) });
  await operations.addTo(app, surfaceDocuments(routes));
  return app;
}
