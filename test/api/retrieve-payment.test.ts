import assert from 'node:assert/strict';
import { addTestPayment } from '#testkit/apis/api-objects.ts';
import { testEndpoint, wrongIds } from '#testkit/apis/endpoint.ts';

let id = '';

testEndpoint({
  name: 'GET /v1/payments/{id}',
  scope: 'payments:read',
  setUp: async ({ db, merchant }) => {
    id = (await addTestPayment(db, merchant.test)).id;
  },
  good: async () => ({ path: `/v1/payments/${id}` }),
  status: 200,
  expect: ({ body }) => {
    assert.equal(body.id, id);
    assert.equal(body.total_charged, 2_512_500);
    assert.equal(body.net, 2_500_000);
  },
  wrong: wrongIds((other) => `/v1/payments/${other}`, 'pay_01QzXo0KcV5sVQ2pWm8Tn3'),
  elsewhere: 'missing',
  replay: 'none',
});
