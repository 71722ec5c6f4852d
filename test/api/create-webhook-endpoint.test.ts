import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LOCAL_WEBHOOKS } from '#testkit/apis/api-objects.ts';
import { testEndpoint, wrongBody } from '#testkit/apis/endpoint.ts';

const URL_OF_OURS = 'http://127.0.0.1:8080/hooks';

const api = testEndpoint({
  name: 'POST /v1/webhook_endpoints',
  scope: 'webhooks:write',
  env: LOCAL_WEBHOOKS,
  good: async ({ db, merchant }) => {
    await db.query('delete from webhook_endpoints where account_id = $1', [merchant.accountId]);
    return {
      path: '/v1/webhook_endpoints',
      body: { url: URL_OF_OURS, enabled_events: ['payment.*', 'ping'], description: 'Orders' },
    };
  },
  status: 201,
  expect: ({ body }) => {
    assert.match(String(body.secret), /^whsec_/);
    assert.equal(body.url, URL_OF_OURS);
    assert.equal(body.status, 'enabled');
    assert.deepEqual(body.enabled_events, ['payment.*', 'ping']);
  },
  wrong: [
    wrongBody('without a URL', { url: undefined }, 'url', 'parameter_missing'),
    wrongBody('without events', { enabled_events: [] }, 'enabled_events'),
    ...[
      'ftp://example.com/',
      'https://user:word@example.com/',
      'https://example.com/#part',
      'https://example.com:22/',
      'https://10.0.0.1/',
      'https://[::1]/',
      'https://0x7f.1:9000x/',
    ].map((url) => wrongBody(`for ${url}`, { url }, 'url', 'url_not_allowed')),
  ],
  elsewhere: 'own',
  replay: 'none',
});

test('an event type that does not exist is refused by name', async () => {
  const body = { url: URL_OF_OURS, enabled_events: ['payment.eaten'] };
  const answered = await api().call({ path: '/v1/webhook_endpoints', body });
  assert.equal(answered.status, 400);
  assert.equal(answered.body.error.code, 'parameter_invalid');
});

test('a mode has at most 16 endpoints', async () => {
  const stranger = await api().addMerchant();
  const body = { url: URL_OF_OURS, enabled_events: ['*'] };
  const call = { path: '/v1/webhook_endpoints', body, key: stranger.test.key };
  for (let i = 0; i < 16; i++) assert.equal((await api().call(call)).status, 201);
  const { status, body: refused } = await api().call(call);
  assert.deepEqual([status, refused.error.code], [400, 'endpoint_limit_reached']);
});

test('a live endpoint must be https', async () => {
  const body = { url: URL_OF_OURS, enabled_events: ['*'] };
  const { key } = api().merchant.live;
  const answered = await api().call({ path: '/v1/webhook_endpoints', body, key });
  assert.equal(answered.body.error.code, 'url_not_allowed');
});
