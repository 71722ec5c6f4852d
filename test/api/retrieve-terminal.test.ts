import assert from 'node:assert/strict';
import { testEndpoint, wrongIds } from '#testkit/apis/endpoint.ts';

testEndpoint({
  name: 'GET /v1/terminals/{id}',
  scope: 'terminals:read',
  good: async ({ merchant }) => ({ path: `/v1/terminals/${merchant.test.terminal}` }),
  status: 200,
  expect: ({ body }, { merchant }) => {
    assert.equal(body.id, merchant.test.terminal);
    assert.equal(body.status, 'active');
  },
  wrong: wrongIds((id) => `/v1/terminals/${id}`, 'tml_01QzXo0KcV5sVQ2pWm8Tn3'),
  elsewhere: 'missing',
  replay: 'none',
});
