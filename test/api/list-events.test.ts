import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestIntent } from '#testkit/apis/api.ts';
import { testEndpoint, WRONG_DATES, wrongPages } from '#testkit/apis/endpoint.ts';

const api = testEndpoint({
  name: 'GET /v1/events',
  scope: 'events:read',
  setUp: async (started) => {
    await createTestIntent(started);
  },
  good: async () => ({ path: '/v1/events' }),
  status: 200,
  expect: ({ body }) =>
    assert.deepEqual(
      body.data.map(({ type }) => type),
      ['payment_intent.created', 'terminal.created'],
    ),
  wrong: wrongPages({ ...WRONG_DATES, type: 'payment_intent.eaten' }),
  elsewhere: 'others',
  replay: 'none',
});

test('a type or a family selects exactly its events', async () => {
  const types = async (type: string) =>
    (await api().call({ path: `/v1/events?type=${type}` })).body.data.map((event) => event.type);
  assert.deepEqual(await types('terminal.created'), ['terminal.created']);
  assert.deepEqual(await types('payment_intent.*'), ['payment_intent.created']);
  assert.deepEqual(await types('refund.*'), []);
});
