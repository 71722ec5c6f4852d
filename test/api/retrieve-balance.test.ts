import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEndpoint, wrongParameter } from '#testkit/apis/endpoint.ts';

// On-chain balances are tested with a chain; here the merchant is not registered yet.
const api = testEndpoint({
  name: 'GET /v1/balance',
  scope: 'balance:read',
  setUp: async ({ db, merchant }) => {
    await db.query(
      'update account_modes set merchant_number = null, live_at = null where account_id = $1',
      [merchant.accountId],
    );
  },
  good: async () => ({ path: '/v1/balance' }),
  status: 200,
  expect: ({ body }) => assert.deepEqual(body.available, [{ amount: 0, currency: 'usdc' }]),
  wrong: [wrongParameter('with a parameter', 'currency', 'usdc')],
  elsewhere: 'own',
  replay: 'none',
});

test('while no node of the chain is reachable, the balance is refused with 503', async () => {
  const { key } = (await api().addMerchant()).test;
  const { status, body } = await api().call({ path: '/v1/balance', key });
  assert.deepEqual([status, body.error.code], [503, 'service_unavailable']);
});
