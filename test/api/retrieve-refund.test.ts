import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { addTestPayment, keepRefunding } from '#testkit/apis/api-objects.ts';
import { testEndpoint, wrongIds } from '#testkit/apis/endpoint.ts';

let id = '';

testEndpoint({
  name: 'GET /v1/refunds/{id}',
  scope: 'refunds:read',
  setUp: async (api) => {
    const chain = keepRefunding(api);
    const payment = await addTestPayment(api.db, api.merchant.test);
    const body = { payment: payment.id };
    id = (await api.call({ path: '/v1/refunds', idempotencyKey: randomUUID(), body })).body.id;
    await chain.stop();
  },
  good: async () => ({ path: `/v1/refunds/${id}` }),
  status: 200,
  expect: ({ body }) => {
    assert.equal(body.id, id);
    assert.equal(body.status, 'succeeded');
  },
  wrong: wrongIds((other) => `/v1/refunds/${other}`, 're_01QzXo0KcV5sVQ2pWm8Tn3'),
  elsewhere: 'missing',
  replay: 'none',
});
