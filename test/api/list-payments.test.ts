import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addTestPayment } from '#testkit/apis/api-objects.ts';
import { testEndpoint, WRONG_DATES, wrongPages } from '#testkit/apis/endpoint.ts';

const ids: string[] = [];
let intentId = '';

const api = testEndpoint({
  name: 'GET /v1/payments',
  scope: 'payments:read',
  setUp: async ({ db, merchant }) => {
    for (let i = 0; i < 3; i++) {
      const payment = await addTestPayment(db, merchant.test);
      ids.unshift(payment.id);
      intentId = payment.intentId;
    }
  },
  good: async () => ({ path: '/v1/payments' }),
  status: 200,
  expect: ({ body }) =>
    assert.deepEqual(
      body.data.map(({ id }) => id),
      ids,
    ),
  wrong: wrongPages({
    ...WRONG_DATES,
    terminal: 'x',
    payment_intent: 'pay_1',
    order_id: '123456789',
    status: 'paid',
  }),
  elsewhere: 'others',
  replay: 'none',
});

test('filters return exactly the matching objects', async () => {
  const listed = async (query: string) =>
    (await api().call({ path: `/v1/payments?${query}` })).body.data.map(({ id }) => id);
  assert.deepEqual(await listed(`payment_intent=${intentId}`), [ids[0]]);
  assert.deepEqual(await listed(`terminal=${api().merchant.test.terminal}`), ids);
  const { body } = await api().call({ path: '/v1/payments' });
  assert.deepEqual(await listed(`order_id=${body.data[1]?.order_id}`), [ids[1]]);
  assert.deepEqual(await listed(`order_id=${body.data[1]?.order_id}&status=refunded`), []);
  assert.deepEqual(await listed('order_id=nobody-s'), []);
  assert.deepEqual(await listed('status=succeeded'), ids);
  assert.deepEqual(await listed('status=refunded'), []);
  assert.deepEqual(await listed('status=partially_refunded'), []);
});

test('a rebuilt payment is found by the order id on the chain', async () => {
  const { db, merchant } = api();
  const payment = await addTestPayment(db, merchant.test);
  const moved = 'WAS-USED';
  await db.query('update payments set recovered = true, order_id = $2 where id = $1', [
    payment.id,
    moved,
  ]);
  const { body } = await api().call({ path: `/v1/payments?order_id=${moved}` });
  assert.deepEqual(
    body.data.map(({ id }) => id),
    [payment.id],
  );
  const intent = await api().call({ path: `/v1/payment_intents/${payment.intentId}` });
  const others = await api().call({ path: `/v1/payments?order_id=${intent.body.order_id}` });
  assert.deepEqual(others.body.data, [], 'its own order id is not the one of its intent');
});
