import assert from 'node:assert/strict';
import { createTestIntent } from '#testkit/apis/api.ts';
import { testEndpoint, wrongIds, wrongParameter } from '#testkit/apis/endpoint.ts';

let id = '';

testEndpoint({
  name: 'GET /v1/payment_intents/{id}',
  scope: 'payments:read',
  setUp: async (api) => {
    id = (await createTestIntent(api)).id;
  },
  good: async () => ({ path: `/v1/payment_intents/${id}` }),
  status: 200,
  expect: ({ body }) => assert.equal(body.id, id),
  wrong: [
    ...wrongIds((other) => `/v1/payment_intents/${other}`, 'pi_01QzXo0KcV5sVQ2pWm8Tn3'),
    wrongParameter('with a parameter', 'expand', 'payment'),
  ],
  elsewhere: 'missing',
  replay: 'none',
});
