import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Type from 'typebox';
import { answerWith, refuse } from '#core/answer.ts';
import { defineVersions } from '#core/api-versions.ts';
import { Unavailable } from '#core/unavailable.ts';
import { CommitUnknown, DatabaseUnavailable } from '#db/database.ts';
import { memoryRateLimiter } from '#http/rate-limit.ts';
import type { AnyRoute } from '#http/route.ts';
import { bareRoute, bareSurface, GOOD_KEY, startBareServer } from '#testkit/apis/http-kit.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const Body = Type.Object({ amount: Type.Integer({ minimum: 1 }) });

const route = (
  path: string,
  handle: () => Promise<ReturnType<typeof answerWith>>,
  more: Partial<AnyRoute> = {},
): AnyRoute => ({
  ...bareRoute({ method: 'POST', path, operationId: path, body: Body, handle }),
  ...more,
});

const ok = async () => answerWith(200, { object: 'thing', reference: 'A-1' });
const throwing = (error: Error) => async () => {
  throw error;
};

/** Counts the calls of a handler that cannot finish before its time limit. */
const late = { begun: 0, finished: 0, end: Promise.withResolvers<void>() };
const slow = async () => {
  late.begun++;
  await late.end.promise;
  late.finished++;
  return answerWith(200, {});
};

const versions = defineVersions('2026-09-28', [
  {
    version: '2027-01-15',
    summary: 'thing.name is called reference, and amount is sent in atoms.',
    upgradeRequest: { '/things': ({ units = 0 }) => ({ amount: Number(units) * 1_000_000 }) },
    downgradeObject: { thing: ({ reference = null, ...rest }) => ({ ...rest, name: reference }) },
  },
]);

const write = 'payments:write';
const routes = [
  route('/things', ok),
  route('/guarded', ok, { scope: write, idempotency: 'required' }),
  route('/keyed', ok, { idempotency: 'required' }),
  route('/broken', throwing(new TypeError('a bug'))),
  route('/away', throwing(new DatabaseUnavailable('away'))),
  route('/no_node', throwing(new Unavailable('no node answers'))),
  route('/unknown', throwing(new CommitUnknown('lost'))),
  route('/slow', slow, { timeLimitMs: 50 }),
];

const server = openForTests(() => startBareServer({ surfaces: [bareSurface(routes)] }));

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer | null;
  readonly url?: string;
}

async function send({ method = 'POST', path, headers = {}, body = '{"amount":1}', url }: Sent) {
  const response = await fetch(`${url ?? server.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${GOOD_KEY}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === null ? {} : { body: body as string }),
  });
  const text = await response.text();
  const parsed = text === '' ? {} : JSON.parse(text);
  return {
    status: response.status,
    headers: response.headers,
    body: parsed,
    code: parsed.error?.code,
  };
}

const NO_BODY = { method: 'GET', body: null } as const;

const ANSWERS: readonly (Sent & { readonly status: number; readonly code?: string })[] = [
  { path: '/things', status: 200 },
  { path: '/things', body: '{}', status: 400, code: 'parameter_missing' },
  { path: '/things', body: '{"amount":1,"x":1}', status: 400, code: 'parameter_unknown' },
  { path: '/things', body: '[]', status: 400, code: 'body_invalid' },
  { path: '/things', body: '{"amount":', status: 400, code: 'body_invalid' },
  { path: '/things', body: Buffer.from([0x7b, 0xff, 0x7d]), status: 400, code: 'body_invalid' },
  { path: '/things?a=1', status: 400, code: 'parameter_unknown' },
  { path: '/things?a=%ff', status: 400, code: 'parameter_invalid' },
  {
    path: '/things',
    headers: { 'service-version': '1' },
    status: 400,
    code: 'api_version_invalid',
  },
  { path: '/keyed', status: 400, code: 'idempotency_key_required' },
  {
    path: '/keyed',
    headers: { 'idempotency-key': '' },
    status: 400,
    code: 'idempotency_key_invalid',
  },
  {
    path: '/keyed',
    headers: { 'idempotency-key': 'é' },
    status: 400,
    code: 'idempotency_key_invalid',
  },
  {
    path: '/things',
    headers: { authorization: 'Bearer bad' },
    status: 401,
    code: 'api_key_invalid',
  },
  { path: '/guarded', status: 403, code: 'scope_missing' },
  { path: '/nothing', status: 404, code: 'route_missing' },
  { path: '', status: 404, code: 'route_missing' },
  { path: '/%ff', status: 404, code: 'route_missing' },
  { path: `/${'a'.repeat(2000)}`, status: 404, code: 'route_missing' },
  { path: '/things', ...NO_BODY, status: 405, code: 'method_not_allowed' },
  { path: '/things', body: `{"a":"${'x'.repeat(70_000)}"}`, status: 413, code: 'body_too_large' },
  {
    path: '/things',
    headers: { 'content-type': 'text/plain' },
    status: 415,
    code: 'content_type_unsupported',
  },
  {
    path: '/things',
    headers: { 'content-type': 'application/json; charset=latin1' },
    status: 400,
    code: 'body_invalid',
  },
  { path: '/broken', status: 500, code: 'internal_error' },
  { path: '/away', status: 503, code: 'service_unavailable' },
  { path: '/no_node', status: 503, code: 'service_unavailable' },
  { path: '/unknown', status: 503, code: 'request_timeout' },
  { path: '/slow', status: 503, code: 'request_timeout' },
];

for (const { status, code, ...sent } of ANSWERS) {
  const what = `${sent.method ?? 'POST'} ${sent.path.slice(0, 20)} → ${status} ${code ?? ''}`;
  test(`${what} carries the five headers`, async () => {
    const answer = await send(sent);
    assert.equal(answer.status, status, JSON.stringify(answer.body));
    assert.equal(answer.code, code);
    assert.match(answer.headers.get('request-id') ?? '', /^req_/);
    assert.equal(answer.headers.get('service-version'), '2026-09-28');
    for (const name of ['limit', 'remaining', 'reset']) {
      assert.match(answer.headers.get(`ratelimit-${name}`) ?? '', /^\d+$/, name);
    }
    if (code !== undefined) {
      assert.equal(answer.body.error.request_id, answer.headers.get('request-id'));
    }
  });
}

for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH']) {
  test(`${method} on a path that exists returns 405 with the allowed methods`, async () => {
    // Uses undici directly, because fetch refuses TRACE.
    const response = await import('undici').then(({ request }) =>
      request(`${server.url}/api/v1/things`, {
        method: method as 'PUT',
        headers: { authorization: `Bearer ${GOOD_KEY}` },
      }),
    );
    assert.equal(response.statusCode, 405);
    assert.equal(response.headers.allow, 'POST');
    await response.body.dump();
  });
}

test('a service with a route that does not declare what it moves does not start', async () => {
  const silent = { ...route('/silent', ok), moves: undefined } as unknown as AnyRoute;
  await assert.rejects(
    startBareServer({ surfaces: [bareSurface([silent])] }),
    /\/silent does not declare what it moves/,
  );
});

test("the 404 for a path without /api names the API's path", async () => {
  const response = await fetch(`${server.url.replace(/\/api.*$/, '')}/v1/things?a=1`);
  assert.equal(response.status, 404);
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  assert.equal(error.code, 'route_missing');
  assert.match(error.message, /send this request to \/api\/v1\/things\./);
});

for (const [path, hint] of Object.entries({
  '/v1/customers': 'the equivalent here: nothing: payers need no account with the merchant.',
  '/v1/terminal/connection_tokens': 'the equivalent here: a device key or a pairing code',
  '/v1/checkout/sessions': 'the equivalent here: POST /api/v1/payment_intents with',
  '/v1/charges': 'There is nothing at this path.',
})) {
  test(`the 404 for ${path} proposes no path that does not exist`, async () => {
    const response = await fetch(`${server.url.replace(/\/api.*$/, '')}${path}`);
    assert.equal(response.status, 404);
    const { error } = (await response.json()) as { error: { message: string } };
    assert.ok(error.message.includes(hint), error.message);
    assert.doesNotMatch(error.message, /send this request/);
  });
}

test('a request that breaks every rule is refused for the first in check order', async () => {
  const limited = await startBareServer({
    surfaces: [bareSurface(routes)],
    limiter: memoryRateLimiter({ requests: 5, seconds: 3600 }),
  });
  const { url } = limited;
  const wrong = { 'service-version': 'no', authorization: 'Bearer bad' };
  const good = `Bearer ${GOOD_KEY}`;
  const code = async (sent: Sent) => (await send({ ...sent, url })).code;
  const bad = { path: '/guarded?x=1', body: '[]' };
  try {
    assert.equal(await code({ ...bad, path: '/nope', headers: wrong }), 'api_key_invalid');
    const keyed = { ...wrong, authorization: good };
    assert.equal(await code({ ...bad, path: '/nope', headers: keyed }), 'api_version_invalid');
    const authorization = { authorization: good };
    assert.equal(await code({ ...bad, path: '/nope', headers: authorization }), 'route_missing');
    assert.equal(await code({ ...bad, headers: authorization }), 'scope_missing');
    assert.equal(
      await code({ ...bad, path: '/keyed', headers: authorization }),
      'idempotency_key_required',
    );
    const idempotent = { ...authorization, 'idempotency-key': 'k' };
    assert.equal(await code({ ...bad, path: '/keyed', headers: idempotent }), 'body_invalid');
    // The key's quota is now used up; its IP address still has its own.
    assert.equal(await code({ ...bad, path: '/nope', headers: keyed }), 'rate_limit_exceeded');
    assert.equal(await code({ ...bad, path: '/nope', headers: wrong }), 'api_key_invalid');
  } finally {
    await limited.close();
  }
});

test('callers without a key are limited by their address, and get Retry-After', async () => {
  const limited = await startBareServer({
    surfaces: [bareSurface(routes)],
    limiter: memoryRateLimiter({ requests: 2, seconds: 3600 }),
  });
  const sent = { path: '/things', headers: { authorization: 'Bearer bad' }, url: limited.url };
  try {
    const remaining = [];
    for (let i = 0; i < 2; i++) {
      const { status, headers } = await send(sent);
      assert.equal(status, 401);
      remaining.push(headers.get('ratelimit-remaining'));
    }
    assert.deepEqual(remaining, ['1', '0']);
    const refused = await send(sent);
    assert.equal(refused.status, 429);
    assert.equal(refused.body.error.type, 'rate_limit_error');
    assert.ok(Number(refused.headers.get('retry-after')) >= 1799);
  } finally {
    await limited.close();
  }
});

test('work continues after its time limit', async () => {
  const before = late.begun;
  assert.equal((await send({ path: '/slow' })).status, 503);
  assert.deepEqual(
    [late.begun, late.finished],
    [before + 1, 0],
    'the response does not wait for it',
  );
  late.end.resolve();
  await nextTurn();
  assert.equal(late.finished, late.begun);
});

test('a key that cannot be read in time is 503, with nothing done', async () => {
  const surface = bareSurface(routes);
  const hanging = await startBareServer({
    surfaces: [{ ...surface, authenticate: () => Promise.reject(new DatabaseUnavailable('away')) }],
  });
  try {
    const answer = await send({ path: '/things', url: hanging.url });
    assert.equal(answer.code, 'service_unavailable');
    assert.match(answer.headers.get('ratelimit-limit') ?? '', /^\d+$/);
  } finally {
    await hanging.close();
  }
});

test('an empty body needs no content type, and may have any', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await send({ path: '/things', body: '', headers });
  assert.equal(answer.code, 'parameter_missing');
});

test('two Idempotency-Key headers are not read as one', async () => {
  const { request } = await import('undici');
  const response = await request(`${server.url}/api/v1/keyed`, {
    method: 'POST',
    headers: [
      ...['authorization', `Bearer ${GOOD_KEY}`, 'content-type', 'application/json'],
      ...['idempotency-key', 'a', 'idempotency-key', 'b'],
    ],
    body: '{"amount":1}',
  });
  const body = (await response.body.json()) as { error: { code: string } };
  assert.equal(body.error.code, 'idempotency_key_invalid');
});

test('a key with a comma in it is one key', async () => {
  const headers = { 'idempotency-key': 'a, b' };
  assert.equal((await send({ path: '/keyed', headers })).status, 200);
});

test('a path outside every surface is 404 as JSON', async () => {
  const response = await fetch(`${server.url}/nothing`);
  assert.equal(response.status, 404);
  assert.equal(
    ((await response.json()) as { error: { code: string } }).error.code,
    'route_missing',
  );
});

test('a newer version is served in addition to the one that keys are pinned to', async () => {
  const dated = await startBareServer({ surfaces: [bareSurface(routes)], versions });
  const { url } = dated;
  try {
    const older = await send({ path: '/things', body: '{"units":2}', url });
    assert.equal(older.headers.get('service-version'), '2026-09-28');
    assert.deepEqual(older.body, { object: 'thing', name: 'A-1' });
    const headers = { 'service-version': '2027-01-15' };
    const newer = await send({ path: '/things', headers, url });
    assert.equal(newer.headers.get('service-version'), '2027-01-15');
    assert.deepEqual(newer.body, { object: 'thing', reference: 'A-1' });
    assert.equal((await send({ path: '/things', body: '{"units":2}', headers, url })).status, 400);
  } finally {
    await dated.close();
  }
});

test('a refusal by the handler is answered as it was declared', async () => {
  const refusing = await startBareServer({
    docsUrl: () => 'https://pay.example',
    surfaces: [
      bareSurface([route('/things', (async () => refuse('terminal_inactive', 'No.')) as never)]),
    ],
  });
  try {
    const answer = await send({ path: '/things', url: refusing.url });
    assert.equal(answer.status, 409);
    assert.equal(answer.body.error.doc_url, 'https://pay.example/docs/errors#terminal_inactive');
  } finally {
    await refusing.close();
  }
});

test('an unknown path is refused for its key before its body is read', async () => {
  const authorization = 'Bearer bad';
  const large = { path: '/nothing', body: 'x'.repeat(70_000), headers: { authorization } };
  assert.equal((await send(large)).code, 'api_key_invalid');
  const mistyped = { path: '/nothing', headers: { 'content-type': ';' } };
  assert.equal((await send(mistyped)).code, 'route_missing');
});
