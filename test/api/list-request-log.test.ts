import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEndpoint, WRONG_DATES, wrongPages } from '#testkit/apis/endpoint.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';

const api = testEndpoint({
  name: 'GET /v1/request_log',
  scope: 'logs:read',
  good: async () => ({ path: '/v1/request_log' }),
  status: 200,
  expect: ({ body }) => assert.ok(Array.isArray(body.data)),
  wrong: wrongPages({ ...WRONG_DATES, status: '99', failed: 'maybe' }),
  elsewhere: 'own',
  replay: 'none',
});

test('a server finds its own refused call, and reads the log page by page', async () => {
  const refused = await api().call({ path: '/v1/payment_intents', body: { amount: 0 } });
  const id = refused.headers['request-id'];
  const read = async (query: string) =>
    (await api().call({ path: `/v1/request_log?${query}` })).body;
  const failures = 'failed=true&operation=createPaymentIntent';
  await eventually('it is logged', async () => (await read(failures)).data.length === 1);
  const [result] = (await read(failures)).data;
  assert.deepEqual(
    [result?.object, result?.id, result?.status, result?.code],
    ['request', id, 400, 'idempotency_key_required'],
  );
  const first = await read('limit=1&operation=listRequestLog');
  const next = `limit=1&operation=listRequestLog&cursor=${first.next_cursor}`;
  const second = await read(next);
  assert.notEqual(second.data[0]?.id, first.data[0]?.id);
  assert.ok(String(second.data[0]?.created) <= String(first.data[0]?.created));
});

test('the log contains no requests by people in the dashboard', async () => {
  const { accountId, livemode } = api().merchant.test.tenant;
  await api().db.query(
    `insert into request_log (id, created, account_id, livemode, caller_id, operation, method, path,
       status, api_version, duration_ms, address)
     values ('req_person', now(), $1, $2, 'usr_1', 'readAccount', 'GET', 
       '/api/dashboard/v1/session', 418, '2026-09-28', 1, '192.0.2.1')`,
    [accountId, livemode],
  );
  const { body } = await api().call({ path: '/v1/request_log?status=418' });
  assert.deepEqual(body.data, []);
});
