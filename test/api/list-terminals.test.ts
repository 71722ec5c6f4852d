import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testEndpoint, wrongPages, wrongParameter } from '#testkit/apis/endpoint.ts';

const api = testEndpoint({
  name: 'GET /v1/terminals',
  scope: 'terminals:read',
  good: async () => ({ path: '/v1/terminals' }),
  status: 200,
  expect: ({ body }, { merchant }) =>
    assert.deepEqual(
      body.data.map(({ id }) => id),
      [merchant.test.terminal],
    ),
  wrong: [
    ...wrongPages({ status: 'broken' }),
    wrongParameter(
      'with created_gte, which it does not take',
      'created_gte',
      '2026-10-01T00:00:00Z',
    ),
  ],
  elsewhere: 'others',
  replay: 'none',
});

test('the status filter returns only terminals with that status', async () => {
  const count = async (status: string) =>
    (await api().call({ path: `/v1/terminals?status=${status}` })).body.data.length;
  assert.deepEqual([await count('active'), await count('inactive')], [1, 0]);
});
