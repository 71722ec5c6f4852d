import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_STREAMS_OF_KEY } from '#apis/merchant/stream-slots.ts';
import { buildApi } from '#app/api-role.ts';
import { createTestIntent, startTestApi } from '#testkit/apis/api.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';

const api = openForTests(
  () => startTestApi({ build: buildApi, env: { TRUSTED_PROXIES: '127.0.0.1' } }),
  async () => {
    await createTestIntent(api);
  },
);

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(api.url + path, { headers });

test('health reports dependencies; unreachable chains do not make it unready', async () => {
  assert.equal((await get('/livez')).status, 200);
  const ready = await get('/readyz');
  assert.equal(ready.status, 200);
  const { status, checks, networks } = (await ready.json()) as {
    status: string;
    networks: unknown;
    checks: Record<string, { status: string }>;
  };
  assert.equal(status, 'ready');
  assert.equal(checks.database?.status, 'ok');
  assert.equal(checks.testnet?.status, 'failing');
  // No node is reachable, so the token's state is unknown.
  const token = { name: 'Test USD Coin', version: '1', problem: null };
  const settles = { settles: true, reasons: [], profile: 'custom', payments_left: null, token };
  assert.deepEqual(networks, { testnet: settles, mainnet: settles });
});

test('metrics cover requests, queues and chains, and are not public', async () => {
  const text = await (await get('/metrics')).text();
  const labels = 'method="POST",operation="createPaymentIntent",status="201"';
  assert.ok(text.includes(`tapline_http_request_duration_seconds_count{${labels}} 1`));
  assert.match(text, /tapline_queue_depth\{queue="webhook_deliveries"\} 0/);
  assert.match(text, /tapline_network_settles\{network="mainnet"\} 1/);
  assert.match(text, /tapline_chain_up\{network="testnet"\} 0/);
  const outside = await get('/metrics', { 'x-forwarded-for': '203.0.113.5' });
  assert.equal(outside.status, 404);
});

test('refusals are counted by their code', async () => {
  await api.call({ path: '/v1/payments', key: null });
  const text = await (await get('/metrics')).text();
  assert.match(text, /tapline_http_refusals_total\{code="api_key_missing"\} \d+/);
});

/** Headers that describe the body and must be equal for GET and HEAD. */
const ABOUT_THE_BODY = ['content-type', 'content-length', 'etag', 'cache-control', 'allow'];

async function answerOf(method: string, path: string) {
  const headers = {
    authorization: `Bearer ${api.merchant.test.key}`,
    'accept-encoding': 'identity',
  };
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(api.url + path, { method, headers, signal });
  const told = ABOUT_THE_BODY.map((name) => `${name}: ${response.headers.get(name)}`);
  return { response, told: [response.status, ...told] };
}

test('HEAD answers as GET does, without the body: pages, files, and the API', async () => {
  const there = ['/livez', '/docs', '/llms.txt', '/openapi.json', '/packages/', '/api/v1/payments'];
  const refused = ['/api/v1/payments?limit=0', '/api/v1/payments/pay_x', '/no'];
  for (const path of [...there, ...refused]) {
    const [request, head] = [await answerOf('GET', path), await answerOf('HEAD', path)];
    assert.deepEqual(head.told, request.told, path);
    assert.equal(request.response.ok, there.includes(path), path);
    assert.notEqual(await request.response.text(), '', path);
    assert.equal(await head.response.text(), '', path);
  }
  const { response } = await answerOf('HEAD', '/api/v1/refunds/re_x/none');
  assert.equal(response.status, 404);
});

test('HEAD of a path that only takes POST is not allowed', async () => {
  const { response } = await answerOf('HEAD', '/api/v1/payment_intents/pi_x/cancel');
  assert.equal(response.status, 405);
  assert.equal(response.headers.get('allow'), 'POST');
});

test('HEAD of the event stream ends immediately and does not count as open', async () => {
  for (let count = 0; count <= MAX_STREAMS_OF_KEY; count++) {
    const { response } = await answerOf('HEAD', '/api/v1/events/stream');
    assert.equal(response.status, 200);
    assert.match(String(response.headers.get('content-type')), /^text\/event-stream/);
    assert.equal(await response.text(), '');
  }
});
