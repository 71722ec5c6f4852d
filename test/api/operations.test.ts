import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestIntent, startTestApi, type TestApi } from '#testing/api.ts';

let api: TestApi;

before(async () => {
  api = await startTestApi({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  await createTestIntent(api);
});

after(() => api.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(api.url + path, { headers });

test('health says what is there; chains that are away do not take the process out', async () => {
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
  // Nobody has asked a node what the addresses hold: none can be reached.
  const settles = { settles: true, reasons: [], profile: 'custom', payments_left: null };
  assert.deepEqual(networks, { testnet: settles, mainnet: settles });
});

test('the numbers tell of requests, queues and chains, and are not for everybody', async () => {
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
