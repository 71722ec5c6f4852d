import assert from 'node:assert/strict';
import { createTestIntent } from '#testkit/apis/api.ts';
import { newestEvent } from '#testkit/apis/api-objects.ts';
import { testEndpoint, wrongIds } from '#testkit/apis/endpoint.ts';

let id = '';

testEndpoint({
  name: 'GET /v1/events/{id}',
  scope: 'events:read',
  setUp: async (api) => {
    await createTestIntent(api);
    id = await newestEvent(api.db, api.merchant.test, 'payment_intent.created');
  },
  good: async () => ({ path: `/v1/events/${id}` }),
  status: 200,
  expect: ({ body }) => {
    assert.equal(body.id, id);
    assert.equal(body.type, 'payment_intent.created');
    assert.equal(body.api_version, '2026-09-28');
  },
  wrong: wrongIds((other) => `/v1/events/${other}`, 'evt_01QzXo0KcV5sVQ2pWm8Tn3'),
  elsewhere: 'missing',
  replay: 'none',
});
