import type { PrivateKeyAccount } from 'viem/accounts';
import { deviceSurface } from '#apis/device/device-routes.ts';
import { pairingSurface } from '#apis/device/pairing-routes.ts';
import type { TestPasses } from '#apis/device/test-pass-routes.ts';
import { paySurface } from '#apis/pay/pay-routes.ts';
import { payerSurface } from '#apis/payer/payer-routes.ts';
import { createContext } from '#app/create-api-context.ts';
import { merchantSurface } from '#app/merchant-surface.ts';
import type { Surface } from '#http/route.ts';
import type { DeclaredRoute } from '#http/route-errors.ts';
import { silentLog } from '#observability/log.ts';
import type { PassFiles } from '#payers/pass-files.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { readConfig } from '#settings/config.ts';
import type { PushSettings } from '#settings/push-settings.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { type Caller, caller } from '#testkit/apis/api-client.ts';
import { keepRefunding } from '#testkit/apis/api-objects.ts';
import { startBareServer } from '#testkit/apis/http-kit.ts';
import { newWallet, type SignInOptions, signInWallet } from '#testkit/apis/wallet-sign-in.ts';
import { addTestKey } from '#testkit/fixtures/payments/merchants.ts';
import {
  keepSettling,
  openStore,
  type StoreOptions,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';

/** A store's APIs over HTTP. The check before each payment uses the simulated chain. */
export interface StoreServer {
  readonly url: string;
  /** Default: the key of the store's own terminal. */
  device(key?: string): Caller;
  /** A client of the pay links. It sends no key, as wallets do. */
  readonly pay: Caller;
  /** Returns a client of the payer app's API that uses this session token. */
  payer(token: string): Caller;
  readonly payerRoutes: readonly DeclaredRoute[];
  /** Signs in a wallet, by default a new one on the network of test mode. */
  signIn(options?: SignInOptions & { readonly account?: PrivateKeyAccount }): Promise<SignedIn>;
  /** Returns a client of the merchant API that uses a new key of the store's account. */
  merchant(options?: { readonly livemode?: boolean }): Promise<Caller>;
  close(): Promise<void>;
}

/** A payer, and the session of the wallet app. */
export interface SignedIn {
  readonly account: PrivateKeyAccount;
  readonly token: string;
  readonly me: Caller;
}

export interface StoreServerOptions {
  readonly chains?: readonly Chain[];
  readonly defaultPass?: string;
  readonly testPasses?: TestPasses;
  readonly passFiles?: PassFiles;
  /** The web apps' URL; default: as configured. */
  readonly webUrl?: string;
  readonly push?: PushSettings;
  readonly env?: Readonly<Record<string, string>>;
  /** CIDR ranges of private addresses that webhooks may reach. */
  readonly allowCidrs?: readonly string[];
  /** Time limit for every route of the merchant API. Default: each route's own. */
  readonly timeLimitMs?: number;
}

/** Chain ids that the tests' networks get, although no chain runs. */
const CHAIN_IDS = [
  { chainId: 31_337, livemode: false },
  { chainId: 31_338, livemode: true },
];

/** Returns the context of a process with all surfaces, set up according to the options. */
function contextOf(store: TestStore, options: StoreServerOptions): ApiContext {
  const { db, wakeups, clock, idKey } = store;
  const { chains = [], env = {}, passFiles, push = null, webUrl } = options;
  const built = createContext({
    idKey,
    config: { ...readConfig(env, []), push, webhookAllowCidrs: options.allowCidrs ?? [] },
    secret: Buffer.alloc(32, 7),
    ...{ db, wakeups, clock },
    log: silentLog,
    chains,
    readiness: store.readiness,
    ...(webUrl && { webUrl: () => webUrl }),
    defaultPass: options.defaultPass ?? null,
    testPasses: options.testPasses ?? null,
  });
  const { keys, settings, outside } = store.ctx;
  const { staticPass, settleWithinS, settlementWaitMs, gas } = settings;
  return {
    ...built,
    keys: { ...built.keys, card: keys.card },
    settings: {
      ...{ ...built.settings, staticPass, settleWithinS, gas },
      ...(settlementWaitMs === undefined ? {} : { settlementWaitMs }),
    },
    outside: {
      ...built.outside,
      preflight: outside.preflight,
      askHome: outside.askHome,
      ...(passFiles === undefined ? {} : { passFiles }),
      ...(chains.length > 0 ? {} : { signIn: { ...built.outside.signIn, chains: CHAIN_IDS } }),
    },
  };
}

export async function serveStore(
  store: TestStore,
  options: StoreServerOptions = {},
): Promise<StoreServer> {
  const { db, clock } = store;
  const { timeLimitMs } = options;
  const ctx = contextOf(store, options);
  const merchantApi = merchantSurface(ctx);
  const payerApi = payerSurface(ctx);
  const limited =
    timeLimitMs === undefined
      ? merchantApi.routes
      : merchantApi.routes.map((route) => ({ ...route, timeLimitMs }));
  const surfaces = [
    { ...merchantApi, routes: limited },
    deviceSurface(ctx),
    pairingSurface(ctx),
    payerApi,
    paySurface(ctx),
  ];
  const server = await startBareServer({
    surfaces: surfaces as unknown as Surface[],
    clock,
    // A test sends X-Forwarded-For to choose the client's address.
    trustedProxies: ['127.0.0.1'],
  });
  const merchant = async ({ livemode = false } = {}) => {
    const tenant = { ...store.merchant.tenant, livemode };
    const { secret } = await addTestKey(db, tenant, { now: clock.now() });
    return caller(`${server.url}/api/v1`, secret);
  };
  const payer = (token: string) => caller(`${server.url}/api/payer/v1`, token);
  const chain = options.chains?.find(({ config }) => !config.livemode);
  const usual = chain === undefined ? {} : { chainId: chain.config.chainId };
  return {
    url: server.url,
    device: (key = store.deviceKey) => caller(`${server.url}/api/device/v1`, key),
    pay: caller(`${server.url}/api/pay/v1`, ''),
    payer,
    payerRoutes: payerApi.routes,
    signIn: async ({ account = newWallet(), ...signed } = {}) => {
      const now = clock.now();
      const token = await signInWallet(server.url, account, { now, ...usual, ...signed });
      return { account, token, me: payer(token) };
    },
    merchant,
    close: server.close,
  };
}

/**
 * Opens a store and serves it. Closing the server closes the store as well.
 *
 * @param options.settles simulates the chain for payments
 * @param options.refunds simulates it for refunds
 */
export async function openServedStore({
  settles = false,
  refunds = false,
  ...options
}: StoreOptions &
  StoreServerOptions & { readonly settles?: boolean; readonly refunds?: boolean } = {}): Promise<{
  readonly store: TestStore;
  readonly server: StoreServer;
  /** A client of the terminal API with the key of the store's own terminal. */
  readonly device: Caller;
}> {
  const store = await openStore(options);
  const server = await serveStore(store, options);
  const loops = [
    ...(settles ? [keepSettling(store)] : []),
    ...(refunds ? [keepRefunding(store)] : []),
  ];
  const close = async () => {
    await Promise.all(loops.map((loop) => loop.stop()));
    await server.close();
    await store.close();
  };
  return { store, server: { ...server, close }, device: server.device() };
}
