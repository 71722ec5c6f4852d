import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { ApiDeps } from '#app/api-dependencies.ts';
import { createOperations } from '#app/api-operations.ts';
import { createContext } from '#app/create-api-context.ts';
import { merchantSurface } from '#app/merchant-surface.ts';
import { serveSurfaces } from '#app/serve-surfaces.ts';
import { present } from '#core/assert.ts';
import { type Clock, systemClock } from '#core/clock.ts';
import type { Tenant } from '#core/mode.ts';
import { isLive, NETWORKS } from '#core/mode.ts';
import { webUrlOf } from '#core/web-url.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { connectWakeups, type Wakeups } from '#db/wakeups.ts';
import { anySurface, type Surface } from '#http/route.ts';
import { type Log, silentLog } from '#observability/log.ts';
import type { ApiContext } from '#payments/api-context.ts';
import { readConfig } from '#settings/config.ts';
import type { Chain } from '#settlement/chain/chain.ts';
import { openChain } from '#settlement/chain/rpc/open-chain.ts';
import { NETWORK_DEFAULTS } from '#settlement/network-config.ts';
import { checkDocumented } from '#testkit/apis/documented.ts';
import { testDatabase } from '#testkit/fixtures/db/database.ts';
import { guardedDatabase, watchMoves } from '#testkit/fixtures/db/moves-guard.ts';
import {
  addTestKey,
  addTestMerchant,
  type KeyOptions,
  type TestMerchant,
} from '#testkit/fixtures/payments/merchants.ts';
import { TEST_ID_KEY } from '#testkit/fixtures/payments/store.ts';
import { settling } from '#testkit/fixtures/settlement/settling.ts';

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';
  /** Path below `/api`, for example `/v1/payments`. */
  readonly path: string;
  /** The API key; `null` sends none. Default: the merchant's test key. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Response fields that tests read. The check against the OpenAPI document ensures that they exist.
 */
export interface AnswerBody {
  readonly id: string;
  readonly object: string;
  readonly status: string;
  readonly created: string;
  readonly data: readonly AnswerBody[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
  readonly error: { readonly code: string; readonly type: string; readonly param: string | null };
  readonly [field: string]: unknown;
}

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  readonly body: AnswerBody;
}

export const TEST_SECRET = Buffer.alloc(32, 7);

export interface TestApi {
  readonly url: string;
  /** The test's own database connections. */
  readonly db: Database;
  readonly databaseUrl: string;
  readonly clock: Clock;
  /** Sends the server the same notifications that workers send. */
  readonly wakeups: Wakeups;
  readonly merchant: TestMerchant;
  /** Sends a request. Fails if the response does not match the OpenAPI document. */
  call(call: Call): Promise<Answered>;
  addMerchant(options?: { readonly live?: boolean }): Promise<TestMerchant>;
  addKey(tenant: Tenant, options?: KeyOptions): Promise<{ id: string; secret: string }>;
  /**
   * Starts another server process on the same database.
   * @returns the URL of the new process
   */
  addNode(): Promise<string>;
  close(): Promise<void>;
}

export interface TestApiOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** Value of `RATE_LIMIT`. The default is so high that no test reaches it by accident. */
  readonly rateLimit?: string;
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Returns the URL at which the server reaches the database, for example through a proxy that
   * injects faults. `url` is the database's real URL.
   */
  readonly databaseUrlFor?: (url: string) => Promise<string>;
  /**
   * The APIs that the test calls; served with health and metrics. Default: only the merchant API.
   */
  readonly surfaces?: (ctx: ApiContext) => readonly Surface[];
  /**
   * Replaces `surfaces` in a test that needs the whole server: `buildApi` of `#app/api-role.ts`. It
   * then depends on all APIs.
   */
  readonly build?: (deps: ApiDeps) => Promise<FastifyInstance>;
}

async function buildSurfaces(
  deps: ApiDeps,
  surfacesOf: TestApiOptions['surfaces'] = (ctx) => [anySurface(merchantSurface(ctx))],
): Promise<FastifyInstance> {
  let app: FastifyInstance | null = null;
  const webUrl = () => webUrlOf(deps.config, app?.server.address());
  const surfaces = surfacesOf(createContext({ ...deps, webUrl }));
  const operations = createOperations(deps);
  app = await serveSurfaces(deps, surfaces, { operations, docsUrl: webUrl });
  operations.addTo(app);
  return app;
}

/** A rate limit that no test reaches within a second. */
const NO_LIMIT = '1000000/1';

interface NodeOf {
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: TestApiOptions;
}

/** Starts a server with its own database connections, as if it were another process. */
async function startNode({ databaseUrl, clock, log, options }: NodeOf) {
  const env = { RATE_LIMIT: options.rateLimit ?? NO_LIMIT, ...options.env };
  const url = (await options.databaseUrlFor?.(databaseUrl)) ?? databaseUrl;
  const db = guardedDatabase(openDatabase({ url, maxConnections: 8 }));
  const wakeups = await connectWakeups(db);
  const config = readConfig(env, []);
  const secret = TEST_SECRET;
  const parts = { config, secret, idKey: TEST_ID_KEY, db, wakeups, clock, log };
  const chains = await openAwayChains();
  const deps: ApiDeps = {
    ...parts,
    chains,
    readiness: settling,
    defaultPass: null,
    around: watchMoves,
  };
  const app = await (options.build?.(deps) ?? buildSurfaces(deps, options.surfaces));
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const close = async () => {
    app.server.closeAllConnections();
    await app.close();
    await wakeups.close();
    await Promise.all(chains.map((chain) => chain.close()));
    await db.close();
  };
  return { url: address, close };
}

async function send(url: string, merchant: TestMerchant, call: Call): Promise<Answered> {
  const headers: Record<string, string> = { ...call.headers };
  if (call.key !== null) headers.authorization = `Bearer ${call.key ?? merchant.test.key}`;
  if (call.idempotencyKey !== undefined) headers['idempotency-key'] = call.idempotencyKey;
  const isText = typeof call.body === 'string';
  if (call.body !== undefined) headers['content-type'] ??= 'application/json';
  const response = await fetch(`${url}/api${call.path}`, {
    method: call.method ?? (call.body === undefined ? 'GET' : 'POST'),
    headers,
    ...(call.body === undefined
      ? {}
      : { body: isText ? (call.body as string) : JSON.stringify(call.body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    body: text === '' ? null : JSON.parse(text),
  };
}

/**
 * Starts the merchant API on its own database, with one merchant. The chains are unreachable, so
 * requests that need a chain stay in progress. Every response is checked against the OpenAPI
 * document.
 */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { db, url: databaseUrl, close } = await testDatabase();
  const clock = options.clock ?? systemClock;
  const setup: NodeOf = { databaseUrl, clock, log: options.log ?? silentLog, options };
  const nodes = [await startNode(setup)];
  const { url } = present(nodes[0], 'node');
  const merchant = await addTestMerchant(db, { now: clock.now() });
  const wakeups = await connectWakeups(db);
  return {
    url,
    db,
    databaseUrl,
    clock,
    wakeups,
    merchant,
    call: async (call) => {
      const answered = await send(url, merchant, call);
      const method = call.method ?? (call.body === undefined ? 'GET' : 'POST');
      checkDocumented({ ...answered, method, url: `${url}/api${call.path}` });
      return answered;
    },
    addMerchant: (merchantOptions = {}) =>
      addTestMerchant(db, { ...merchantOptions, now: clock.now() }),
    addKey: (tenant, keyOptions = {}) =>
      addTestKey(db, tenant, { ...keyOptions, now: clock.now() }),
    addNode: async () => {
      const node = await startNode(setup);
      nodes.push(node);
      return node.url;
    },
    close: async () => {
      for (const node of nodes) await node.close();
      await wakeups.close();
      await close();
    },
  };
}

export async function createTestIntent(api: TestApi, body: object = {}): Promise<AnswerBody> {
  const answered = await api.call({
    path: '/v1/payment_intents',
    idempotencyKey: randomUUID(),
    body: { amount: 2_500_000, terminal: api.merchant.test.terminal, ...body },
  });
  return answered.body;
}

/** Reads a whole list page by page, and calls `between` after each page but the last. */
export async function readAllPages(
  api: TestApi,
  path: string,
  between: () => Promise<unknown> = () => Promise.resolve(),
): Promise<AnswerBody[]> {
  const rows: AnswerBody[] = [];
  let cursor = '';
  for (;;) {
    const { body } = await api.call({ path: `${path}${cursor}` });
    rows.push(...body.data);
    if (!body.has_more) return rows;
    cursor = `&cursor=${body.next_cursor}`;
    await between();
  }
}

/** An address without a listener. */
const NOWHERE = 'http://127.0.0.1:1';

/** Opens both networks with unreachable nodes, for tests that need no chain. */
function openAwayChains(): Promise<Chain[]> {
  return Promise.all(
    NETWORKS.map((network, index) =>
      openChain(
        {
          ...NETWORK_DEFAULTS,
          network,
          livemode: isLive(network),
          chainId: 31_337 + index,
          rpcUrls: [NOWHERE],
          usdc: `0x${'11'.repeat(20)}`,
          settlement: `0x${'22'.repeat(20)}`,
          relayerKeys: [],
          registrarKey: `0x${'33'.repeat(32)}`,
        },
        silentLog,
      ),
    ),
  );
}
