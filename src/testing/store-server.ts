import { issueApiKey } from '#accounts/create-api-key.ts';
import { createShared, merchantSurface } from '#api-role.ts';
import { readConfig } from '#config.ts';
import { silentLog } from '#core/log.ts';
import { SCOPES, type Surface } from '#http/route.ts';
import { payerSurface } from '#payer-app/routes.ts';
import { createIntentPayer } from '#payments/pay.ts';
import type { Chain } from '#settlement/chain.ts';
import { deviceSurface } from '#terminals/device-routes.ts';
import { pairingSurface } from '#terminals/pairing-routes.ts';
import { type Caller, caller } from '#testing/api-client.ts';
import { startBareServer } from '#testing/http-kit.ts';
import type { TestStore } from '#testing/store.ts';

/** A store's surfaces over HTTP; the chain is what the store's preflight says. */
export interface StoreServer {
  readonly url: string;
  /** The terminal protocol with this device key; default: the store's own terminal. */
  device(key?: string): Caller;
  /** The payer app with this session token. */
  payer(token: string): Caller;
  /** The merchant API with a fresh key of the store's account. */
  merchant(options?: { readonly livemode?: boolean }): Promise<Caller>;
  close(): Promise<void>;
}

export interface StoreServerOptions {
  readonly chains?: readonly Chain[];
  readonly defaultPass?: string;
  /** Of every route of the merchant API; default: each route's own. */
  readonly timeLimitMs?: number;
}

/** Chain ids of the test networks where no chain runs. */
const CHAIN_IDS = [
  { chainId: 31_337, livemode: false },
  { chainId: 31_338, livemode: true },
];

export async function serveStore(
  store: TestStore,
  { chains = [], defaultPass, timeLimitMs }: StoreServerOptions = {},
): Promise<StoreServer> {
  const { db, wakeups, clock, idKey } = store;
  const built = createShared({
    idKey,
    config: readConfig({}, []),
    secret: Buffer.alloc(32, 7),
    db,
    wakeups,
    clock,
    log: silentLog,
    chains,
    readiness: store.readiness,
    defaultPass: defaultPass ?? null,
  });
  const signIn = chains.length > 0 ? built.signIn : { ...built.signIn, chains: CHAIN_IDS };
  const shared = {
    ...built,
    payIntent: createIntentPayer(store.pay),
  };
  const merchantApi = merchantSurface(shared);
  const limited =
    timeLimitMs === undefined
      ? merchantApi.routes
      : merchantApi.routes.map((route) => ({ ...route, timeLimitMs }));
  const surfaces = [
    { ...merchantApi, routes: limited },
    deviceSurface(shared),
    pairingSurface(shared),
    payerSurface({ ...shared, signIn }),
  ];
  const server = await startBareServer({ surfaces: surfaces as unknown as Surface[], clock });
  const merchant = async ({ livemode = false } = {}) => {
    const { secret } = await db.transaction((tx) =>
      issueApiKey(tx, {
        tenant: { ...store.standing.tenant, livemode },
        name: 'test',
        scopes: SCOPES,
        ipAllowlist: [],
        expiresAt: null,
        actor: { type: 'system', name: 'tests' },
        now: clock.now(),
        rotatedFrom: null,
      }),
    );
    return caller(`${server.url}/api/v1`, secret);
  };
  return {
    url: server.url,
    device: (key = store.deviceKey) => caller(`${server.url}/api/device/v1`, key),
    payer: (token) => caller(`${server.url}/api/payer/v1`, token),
    merchant,
    close: server.close,
  };
}
