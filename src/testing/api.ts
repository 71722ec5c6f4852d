import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { insertAccount } from '#accounts/account-queries.ts';
import type { Actor } from '#accounts/actor.ts';
import { issueApiKey } from '#accounts/create-api-key.ts';
import { type ApiDeps, buildApi } from '#api-role.ts';
import { readConfig } from '#config.ts';
import { present } from '#core/assert.ts';
import { type Clock, systemClock } from '#core/clock.ts';
import { newId } from '#core/ids.ts';
import { type Log, silentLog } from '#core/log.ts';
import type { Tenant } from '#core/mode.ts';
import { isRefusal } from '#core/refusal.ts';
import { type Database, openDatabase } from '#db/database.ts';
import { connectWakeups } from '#db/wakeups.ts';
import { declaredMerchantRoutes } from '#declared-routes.ts';
import { SCOPES } from '#http/route.ts';
import { merchantDocument } from '#merchant-document.ts';
import { createTerminal } from '#terminals/create-terminal.ts';
import { createAnswerCheck } from '#testing/check-answer.ts';
import { testDatabase } from '#testing/database.ts';

/** A merchant's things in one mode. */
export interface TestMode {
  readonly tenant: Tenant;
  /** A key with every scope. */
  readonly key: string;
  readonly keyId: string;
  readonly terminal: string;
}

export interface TestMerchant {
  readonly accountId: string;
  readonly test: TestMode;
  readonly live: TestMode;
}

export interface Call {
  readonly method?: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT';
  /** Below `/api`: `/v1/payments`. */
  readonly path: string;
  /** null: without one. Default: the merchant's test key. */
  readonly key?: string | null;
  readonly body?: unknown;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a test reads of answers; the document's check has seen that it is there. */
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

export interface TestApi {
  readonly url: string;
  readonly db: Database;
  readonly databaseUrl: string;
  readonly merchant: TestMerchant;
  /** Sends a request and fails unless the answer is as the OpenAPI document says. */
  call(call: Call): Promise<Answered>;
  addMerchant(options?: { readonly live?: boolean }): Promise<TestMerchant>;
  addKey(tenant: Tenant, options?: KeyOptions): Promise<{ id: string; secret: string }>;
  /** Another process's server on the same database. */
  addNode(): Promise<string>;
  close(): Promise<void>;
}

export interface KeyOptions {
  readonly scopes?: readonly string[];
  readonly ipAllowlist?: readonly string[];
  readonly expiresAt?: Date | null;
}

export interface TestApiOptions {
  readonly clock?: Clock;
  readonly log?: Log;
  /** `RATE_LIMIT`; default: so many that no test meets it by chance. */
  readonly rateLimit?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const SYSTEM: Actor = { type: 'system', name: 'tests' };
/** Above what a test sends in a second. */
const NO_LIMIT = '1000000/1';

async function registerOnChain(db: Database, accountId: string): Promise<void> {
  await db.query(
    `update account_modes
     set merchant_number = 1 + (select count(*) from account_modes where merchant_number > 0),
       settlement_wallet = $2, live_at = now()
     where account_id = $1`,
    [accountId, `0x${randomBytes(20).toString('hex')}`],
  );
}

async function addKey(db: Database, tenant: Tenant, options: KeyOptions, now: Date) {
  const issued = await db.transaction((tx) =>
    issueApiKey(tx, {
      tenant,
      name: 'test',
      scopes: options.scopes ?? SCOPES,
      ipAllowlist: options.ipAllowlist ?? [],
      expiresAt: options.expiresAt ?? null,
      actor: SYSTEM,
      now,
      rotatedFrom: null,
    }),
  );
  return { id: issued.row.id, secret: issued.secret };
}

async function addMode(db: Database, tenant: Tenant, now: Date): Promise<TestMode> {
  const terminal = await db.transaction((tx) =>
    createTerminal(tx, { tenant, label: 'Counter', actor: SYSTEM, now }),
  );
  if (isRefusal(terminal)) throw new Error(terminal.message);
  const { id, secret } = await addKey(db, tenant, {}, now);
  return { tenant, key: secret, keyId: id, terminal: terminal.row.id };
}

/** An approved merchant, live on both networks unless `live` is false. */
async function addMerchant(db: Database, now: Date, live: boolean): Promise<TestMerchant> {
  const accountId = newId('account', now);
  await db.transaction((tx) => insertAccount(tx, { id: accountId, name: 'Test shop', now }));
  await db.query(`update accounts set kyb_status = 'approved' where id = $1`, [accountId]);
  if (live) await registerOnChain(db, accountId);
  return {
    accountId,
    test: await addMode(db, { accountId, livemode: false }, now),
    live: await addMode(db, { accountId, livemode: true }, now),
  };
}

interface NodeOf {
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly options: TestApiOptions;
}

/** A server with connections of its own, as a process would have them. */
async function startNode({ databaseUrl, clock, log, options }: NodeOf) {
  const env = { RATE_LIMIT: options.rateLimit ?? NO_LIMIT, ...options.env };
  const db = openDatabase({ url: databaseUrl, maxConnections: 8 });
  const wakeups = await connectWakeups(db);
  const config = readConfig(env, []);
  const secret = Buffer.alloc(32, 7);
  const parts = { config, secret, db, wakeups, clock, log };
  const deps: ApiDeps = { ...parts, chains: [], defaultPass: null };
  const app = await buildApi(deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const close = async () => {
    app.server.closeAllConnections();
    await app.close();
    await wakeups.close();
    await db.close();
  };
  return { url: `http://127.0.0.1:${port}`, close };
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
 * The merchant API over a database of its own, with one merchant, and without chains: what asks a
 * chain stays under way. Every answer is compared with the OpenAPI document.
 */
export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { db, url: databaseUrl, close } = await testDatabase();
  const clock = options.clock ?? systemClock;
  const of: NodeOf = { databaseUrl, clock, log: options.log ?? silentLog, options };
  const nodes = [await startNode(of)];
  const { url } = present(nodes[0], 'node');
  const merchant = await addMerchant(db, clock.now(), true);
  const check = createAnswerCheck(merchantDocument(declaredMerchantRoutes()));
  return {
    url,
    db,
    databaseUrl,
    merchant,
    call: async (call) => {
      const answered = await send(url, merchant, call);
      const method = call.method ?? (call.body === undefined ? 'GET' : 'POST');
      check({ ...answered, method, path: `/api${call.path}` });
      return answered;
    },
    addMerchant: ({ live = true } = {}) => addMerchant(db, clock.now(), live),
    addKey: (tenant, keyOptions = {}) => addKey(db, tenant, keyOptions, clock.now()),
    addNode: async () => {
      const node = await startNode(of);
      nodes.push(node);
      return node.url;
    },
    close: async () => {
      for (const node of nodes) await node.close();
      await close();
    },
  };
}

/** A payment intent of the test mode, made over the API. */
export async function createTestIntent(api: TestApi, body: object = {}): Promise<AnswerBody> {
  const answered = await api.call({
    path: '/v1/payment_intents',
    idempotencyKey: randomUUID(),
    body: { amount: 2_500_000, terminal: api.merchant.test.terminal, ...body },
  });
  return answered.body;
}
