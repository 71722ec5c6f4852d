import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Loop } from '#core/background-loop.ts';
import { addTestPayment, keepRefunding } from '#testkit/apis/api-objects.ts';
import { testEndpoint, WRONG_DATES, wrongPages } from '#testkit/apis/endpoint.ts';

let chain: Loop;
let payment = '';
let intent = '';

const api = testEndpoint({
  name: 'GET /v1/refunds',
  scope: 'refunds:read',
  setUp: async (started) => {
    chain = keepRefunding(started);
    const added = await addTestPayment(started.db, started.merchant.test);
    [payment, intent] = [added.id, added.intentId];
    for (const amount of [1, 2, 3]) {
      const body = { payment, amount };
      await started.call({ path: '/v1/refunds', idempotencyKey: randomUUID(), body });
    }
  },
  tearDown: () => chain.stop(),
  good: async () => ({ path: '/v1/refunds' }),
  status: 200,
  expect: ({ body }) =>
    assert.deepEqual(
      body.data.map(({ amount }) => amount),
      [3, 2, 1],
    ),
  wrong: wrongPages({ ...WRONG_DATES, payment: 're_1', payment_intent: 'pay_1', status: 'done' }),
  elsewhere: 'others',
  replay: 'none',
});

test('filters return exactly the matching objects', async () => {
  const count = async (query: string) =>
    (await api().call({ path: `/v1/refunds?${query}` })).body.data.length;
  assert.equal(await count(`payment=${payment}`), 3);
  assert.equal(await count('payment=pay_01QzXo0KcV5sVQ2pWm8Tn3'), 0);
  assert.equal(await count(`payment_intent=${intent}`), 3);
  assert.equal(await count(`payment_intent=${intent}&payment=${payment}&status=succeeded`), 3);
  assert.equal(await count('payment_intent=pi_01QzXo0KcV5sVQ2pWm8Tn3'), 0);
  const foreign = (await addTestPayment(api().db, (await api().addMerchant()).test)).intentId;
  assert.equal(await count(`payment_intent=${foreign}`), 0);
  assert.equal(await count('status=succeeded'), 3);
  assert.equal(await count('status=failed'), 0);
});
