import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEndpoint } from '#testkit/apis/endpoint.ts';

const KEY = 'order/7 & more';
const PATH = `/v1/idempotency_keys/${encodeURIComponent(KEY)}`;
let intentId = '';

const api = testEndpoint({
  name: 'GET /v1/idempotency_keys/{key}',
  scope: 'payments:read',
  setUp: async ({ call, merchant }) => {
    const body = { amount: 1, terminal: merchant.test.terminal };
    const created = await call({ path: '/v1/payment_intents', idempotencyKey: KEY, body });
    intentId = created.body.id;
  },
  good: async () => ({ path: PATH }),
  status: 200,
  expect: ({ body }) => {
    assert.equal(body.key, KEY);
    assert.equal(body.status, 'completed');
    assert.equal(body.resource, intentId);
    assert.equal(body.response_status, 201);
    assert.equal(body.path, '/v1/payment_intents');
  },
  wrong: [
    {
      because: 'for a key that was never used',
      call: (good) => ({ ...good, path: '/v1/idempotency_keys/never' }),
      status: 404,
      code: 'resource_missing',
      param: 'key',
    },
  ],
  elsewhere: 'missing',
  replay: 'none',
});

test('a key whose request is still running is reported as in progress', async () => {
  const { tenant } = api().merchant.test;
  await api().db.query(
    `insert into idempotency_keys (account_id, livemode, caller, key, fingerprint, method, path,
       status, created, expires_at)
     values ($1, $2, '', 'running', '', 'POST', '/v1/refunds', 'in_progress', now(),
       now() + interval '1 hour')`,
    [tenant.accountId, tenant.livemode],
  );
  const { body } = await api().call({ path: '/v1/idempotency_keys/running' });
  assert.equal(body.status, 'in_progress');
  assert.equal(body.response_status, null);
});
