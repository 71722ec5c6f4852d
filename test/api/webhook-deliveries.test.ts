import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { present } from '#core/assert.ts';
import { createTestIntent, type TestApi } from '#testkit/apis/api.ts';
import { addTestEndpoint, LOCAL_WEBHOOKS } from '#testkit/apis/api-objects.ts';
import { type Endpoint, testEndpoint, wrongIds, wrongPages } from '#testkit/apis/endpoint.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { startReceiver } from '#testkit/network/webhook-receiver.ts';

let endpointId = '';
let deliveryId = '';
let replayId = '';

const receiver = openForTests(startReceiver);

/** Adds an endpoint with one delivery, and no worker that would send it. */
async function setUp(api: TestApi): Promise<void> {
  endpointId = await addTestEndpoint(api, receiver.url);
  await createTestIntent(api);
  const { body } = await api.call({ path: `/v1/webhook_endpoints/${endpointId}/deliveries` });
  deliveryId = present(body.data[0], 'delivery').id;
  const since = '2026-10-01T00:00:00.000Z';
  const path = `/v1/webhook_endpoints/${endpointId}/replay`;
  replayId = (await api.call({ path, body: { since } })).body.id;
}

const shared = { env: LOCAL_WEBHOOKS, replay: 'none', status: 200, setUp } as const;
const read = { ...shared, scope: 'webhooks:read' } as const;
const write = { ...shared, scope: 'webhooks:write' } as const;
const NOBODY = 'wdl_01QzXo0KcV5sVQ2pWm8Tn3';

const endpoints: readonly Endpoint[] = [
  {
    ...read,
    name: 'GET /v1/webhook_endpoints/{id}/deliveries',
    good: async () => ({ path: `/v1/webhook_endpoints/${endpointId}/deliveries` }),
    expect: ({ body }) =>
      assert.deepEqual(
        body.data.map(({ id, status }) => [id, status]),
        [[deliveryId, 'pending']],
      ),
    wrong: [
      ...wrongPages({ status: 'lost' }),
      ...wrongIds((id) => `/v1/webhook_endpoints/${id}/deliveries`, 'we_01QzXo0KcV5sVQ2pWm8Tn3'),
    ],
    elsewhere: 'missing',
  },
  {
    ...read,
    name: 'GET /v1/webhook_deliveries/{id}',
    good: async () => ({ path: `/v1/webhook_deliveries/${deliveryId}` }),
    expect: ({ body }) => {
      assert.equal(body.webhook_endpoint, endpointId);
      assert.equal(body.event_type, 'payment_intent.created');
      assert.equal(body.attempt, 0);
    },
    wrong: wrongIds((id) => `/v1/webhook_deliveries/${id}`, NOBODY),
    elsewhere: 'missing',
  },
  {
    ...write,
    name: 'POST /v1/webhook_deliveries/{id}/retry',
    good: async () => ({ method: 'POST', path: `/v1/webhook_deliveries/${deliveryId}/retry` }),
    expect: ({ body }) => assert.equal(body.status, 'pending'),
    wrong: wrongIds((id) => `/v1/webhook_deliveries/${id}/retry`, NOBODY),
    elsewhere: 'missing',
  },
  {
    ...write,
    name: 'POST /v1/webhook_endpoints/{id}/test',
    good: async () => ({ method: 'POST', path: `/v1/webhook_endpoints/${endpointId}/test` }),
    expect: ({ body }) => {
      assert.equal(body.event_type, 'ping');
      assert.equal(body.status, 'succeeded');
      assert.equal(body.response_status, 200);
    },
    wrong: wrongIds((id) => `/v1/webhook_endpoints/${id}/test`, 'we_01QzXo0KcV5sVQ2pWm8Tn3'),
    elsewhere: 'missing',
  },
  {
    ...read,
    name: 'GET /v1/webhook_replays/{id}',
    good: async () => ({ path: `/v1/webhook_replays/${replayId}` }),
    expect: ({ body }) => assert.equal(body.status, 'running'),
    wrong: wrongIds((id) => `/v1/webhook_replays/${id}`, 'wrp_01QzXo0KcV5sVQ2pWm8Tn3'),
    elsewhere: 'missing',
  },
];

for (const endpoint of endpoints) {
  describe(endpoint.name, () => {
    testEndpoint(endpoint);
  });
}
