import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { SCOPES, type Scope } from '#accounts/api-key-scopes.ts';
import { newSecret } from '#core/bearer-secrets.ts';
import { type Answered, type Call, startTestApi, type TestApi } from '#testkit/apis/api.ts';

/** A request with one error, and the expected refusal. */
export interface WrongCall {
  /** Names the error. */
  readonly because: string;
  /** Turns a request that would succeed into the wrong one. */
  readonly call: (good: Call, api: TestApi) => Call | Promise<Call>;
  readonly status?: number;
  readonly code: string;
  readonly param?: string | null;
}

/** An endpoint of the API, with what the shared tests need to know about it. */
export interface Endpoint {
  /** Names the tests, for example `POST /v1/refunds`. */
  readonly name: string;
  readonly scope: Scope;
  /** Creates a request that succeeds with the merchant's test key. Each test creates its own. */
  readonly good: (api: TestApi) => Promise<Call>;
  readonly status: 200 | 201 | 202;
  /** Checks more of the response to the good request than its OpenAPI document states. */
  readonly expect: (answered: Answered, api: TestApi) => void | Promise<void>;
  readonly wrong: readonly WrongCall[];
  /**
   * The result for a key of another account or mode: `missing` (404) if the path names an object;
   * `others` if the endpoint lists objects, and so lists that account's own; `own` if the response
   * contains no objects.
   */
  readonly elsewhere: 'missing' | 'others' | 'own';
  readonly replay: 'required' | 'accepted' | 'none';
  /** Called once the server has started. */
  readonly setUp?: (api: TestApi) => Promise<void>;
  /** Runs before the server stops. */
  readonly tearDown?: () => Promise<void>;
  readonly env?: Readonly<Record<string, string>>;
}

async function withKey(api: TestApi, endpoint: Endpoint, key: string | null): Promise<Answered> {
  return api.call({ ...(await endpoint.good(api)), key });
}

async function assertRefused(
  answered: Promise<Answered> | Answered,
  expected: { readonly status: number; readonly code: string },
): Promise<void> {
  const { status, body } = await answered;
  assert.deepEqual({ status, code: body.error?.code }, expected);
}

function testKeys(endpoint: Endpoint, api: () => TestApi): void {
  const { name, scope } = endpoint;
  test(`${name} is refused without a key, and with an invented one`, async () => {
    const missing = { status: 401, code: 'api_key_missing' };
    await assertRefused(withKey(api(), endpoint, null), missing);
    const invalid = { status: 401, code: 'api_key_invalid' };
    await assertRefused(withKey(api(), endpoint, newSecret('apiKeyTest')), invalid);
    await assertRefused(withKey(api(), endpoint, 'tlsk_test_mistyped'), invalid);
  });

  test(`${name} needs the scope ${scope}, and no other`, async () => {
    const { tenant } = api().merchant.test;
    const scopes = SCOPES.filter((other) => other !== scope);
    const others = await api().addKey(tenant, { scopes });
    const refused = { status: 403, code: 'scope_missing' };
    await assertRefused(withKey(api(), endpoint, others.secret), refused);
    const only = await api().addKey(tenant, { scopes: [scope] });
    const answered = await withKey(api(), endpoint, only.secret);
    assert.equal(answered.status, endpoint.status, answered.text);
  });
}

async function listedTo(api: TestApi, endpoint: Endpoint, key: string): Promise<string[]> {
  const answered = await withKey(api, endpoint, key);
  assert.equal(answered.status, 200, answered.text);
  return answered.body.data.map(({ id }) => id);
}

function testElsewhere(endpoint: Endpoint, api: () => TestApi): void {
  const { name, elsewhere } = endpoint;
  if (elsewhere === 'own') return;
  const assertNothing = async (key: string) => {
    if (elsewhere === 'missing') {
      const missing = { status: 404, code: 'resource_missing' };
      return assertRefused(withKey(api(), endpoint, key), missing);
    }
    const own = new Set(await listedTo(api(), endpoint, api().merchant.test.key));
    assert.ok(own.size > 0, 'there is something to be shown');
    const shown = await listedTo(api(), endpoint, key);
    assert.deepEqual(
      shown.filter((id) => own.has(id)),
      [],
    );
  };
  test(`${name} shows no data of another account`, async () => {
    await assertNothing((await api().addMerchant()).test.key);
  });
  test(`${name} shows no data of the other mode`, async () => {
    await assertNothing(api().merchant.live.key);
  });
}

function testReplay(endpoint: Endpoint, api: () => TestApi): void {
  const { name, replay } = endpoint;
  if (replay === 'none') return;
  test(`${name} runs once per Idempotency-Key, and repeats its response exactly`, async () => {
    const call = { ...(await endpoint.good(api())), idempotencyKey: randomUUID() };
    const first = await api().call(call);
    assert.equal(first.status, endpoint.status, first.text);
    assert.equal(first.headers['idempotent-replayed'], undefined);
    const again = await api().call(call);
    assert.equal(again.headers['idempotent-replayed'], 'true');
    assert.equal(again.text, first.text);
    assert.equal(again.status, first.status);
  });

  test(`${name} refuses a key that was used for another request`, async () => {
    const idempotencyKey = randomUUID();
    await api().call({ ...(await endpoint.good(api())), idempotencyKey });
    const other = {
      path: '/v1/payment_intents',
      body: { amount: 1, terminal: api().merchant.test.terminal },
    };
    const refused = { status: 409, code: 'idempotency_key_reused' };
    await assertRefused(api().call({ ...other, idempotencyKey }), refused);
    // The service checks the Idempotency-Key before the body, so an invalid body makes no
    // difference.
    const broken = { path: other.path, body: { amount: 'much' } };
    await assertRefused(api().call({ ...broken, idempotencyKey }), refused);
  });
}

/**
 * Tests the promises that every endpoint keeps. Promises of a single endpoint have their own tests.
 */
export function testEndpoint(endpoint: Endpoint): () => TestApi {
  let api: TestApi;
  const current = () => api;
  before(async () => {
    api = await startTestApi(endpoint.env === undefined ? {} : { env: endpoint.env });
    await endpoint.setUp?.(api);
  });
  after(async () => {
    await endpoint.tearDown?.();
    await api.close();
  });

  test(`${endpoint.name} answers ${endpoint.status}`, async () => {
    const answered = await api.call(await endpoint.good(api));
    assert.equal(answered.status, endpoint.status, answered.text);
    await endpoint.expect(answered, api);
  });

  for (const wrong of endpoint.wrong) {
    test(`${endpoint.name} is refused ${wrong.because}`, async () => {
      const good = await endpoint.good(api);
      const call = await wrong.call(good, api);
      const kept = await rowsOf(api);
      const { status, body } = await api.call(call);
      const { code, param = null } = body.error;
      const expected = { status: wrong.status ?? 400, code: wrong.code };
      assert.deepEqual({ status, code }, expected);
      if (wrong.param !== undefined) assert.equal(param, wrong.param);
      if (status === 400) assert.deepEqual(await rowsOf(api), kept, 'nothing is kept');
    });
  }
  if (endpoint.replay === 'required') {
    test(`${endpoint.name} is refused without an Idempotency-Key`, async () => {
      const { idempotencyKey: _, ...good } = await endpoint.good(api);
      await assertRefused(api.call(good), { status: 400, code: 'idempotency_key_required' });
    });
  }
  testKeys(endpoint, current);
  testReplay(endpoint, current);
  testElsewhere(endpoint, current);
  return current;
}

/** Tables into which requests of the merchant API write. */
const TABLES = ['payment_intents', 'refunds', 'events', 'webhook_endpoints', 'idempotency_keys'];

/** Returns the number of rows of each table. */
async function rowsOf({ db }: TestApi): Promise<readonly string[]> {
  const counts = TABLES.map((table) => `select '${table} ' || count(*) as count from ${table}`);
  const rows = await db.query<{ count: string }>(counts.join(' union all '), []);
  return rows.map(({ count }) => count).toSorted();
}

/** Returns a request with changed body fields; `undefined` removes a field. */
export function wrongBody(
  because: string,
  changes: object,
  param: string,
  code = 'parameter_invalid',
): WrongCall {
  const call = (good: Call) => ({ ...good, body: { ...(good.body as object), ...changes } });
  return { because, call, code, param };
}

/** Returns a request with a query parameter that it does not take. */
export function wrongParameter(because: string, name: string, value: string): WrongCall {
  const call = (good: Call) => ({ ...good, path: `${good.path}?${name}=${value}` });
  return { because, call, code: 'parameter_unknown', param: name };
}

/**
 * Returns invalid list parameters with their expected refusals. They are the same for every list.
 */
export function wrongPages(filters: Readonly<Record<string, string>> = {}): WrongCall[] {
  const at = (query: string) => (good: Call) => ({
    ...good,
    path: `${good.path.split('?')[0]}?${query}`,
  });
  const wrongFilters = Object.entries(filters).map(([name, value]) => ({
    because: `with ${name}=${value}`,
    call: at(`${name}=${encodeURIComponent(value)}`),
    code: 'parameter_invalid',
    param: name,
  }));
  return [
    ...['0', '101', '1.5', 'ten', ''].map((limit) => ({
      because: `with limit=${limit}`,
      call: at(`limit=${limit}`),
      code: 'parameter_invalid',
      param: 'limit',
    })),
    {
      because: 'with a cursor that was not made by it',
      call: at('cursor=abc'),
      code: 'cursor_invalid',
      param: 'cursor',
    },
    wrongParameter('with a parameter that it does not take', 'color', 'red'),
    ...wrongFilters,
  ];
}

export const WRONG_DATES: Readonly<Record<string, string>> = {
  created_gte: 'yesterday',
  created_lt: '2026-13-01T00:00:00Z',
};

/**
 * Returns requests with an unknown id and with the id of an object of another kind, with their
 * expected refusals.
 */
export function wrongIds(path: (id: string) => string, id: string): WrongCall[] {
  const to = (other: string) => (good: Call) => ({ ...good, path: path(other) });
  const missing = { status: 404, code: 'resource_missing', param: 'id' };
  return [
    { because: 'for an object that does not exist', call: to(id), ...missing },
    { because: 'for something that is no id', call: to('nothing'), ...missing },
    { because: 'for another kind of object', call: to('req_01QzXo0KcV5sVQ2pWm8Tn3'), ...missing },
  ];
}
