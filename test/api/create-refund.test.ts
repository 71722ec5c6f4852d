import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import type { Loop } from '#core/background-loop.ts';
import { addTestPayment, keepRefunding } from '#testkit/apis/api-objects.ts';
import { testEndpoint, wrongBody } from '#testkit/apis/endpoint.ts';

let chain: Loop;

const api = testEndpoint({
  name: 'POST /v1/refunds',
  scope: 'refunds:write',
  setUp: async (started) => {
    chain = keepRefunding(started);
  },
  tearDown: () => chain.stop(),
  good: async ({ db, merchant }) => ({
    path: '/v1/refunds',
    idempotencyKey: randomUUID(),
    body: { payment: (await addTestPayment(db, merchant.test)).id, amount: 1_000_000 },
  }),
  status: 201,
  expect: ({ body }) => {
    assert.equal(body.status, 'succeeded');
    assert.equal(body.amount, 1_000_000);
    assert.equal(body.source, 'api');
    assert.equal(body.failure_code, null);
    assert.deepEqual(body.metadata, {});
  },
  wrong: [
    wrongBody('without a payment', { payment: undefined }, 'payment', 'parameter_missing'),
    wrongBody(
      'for a payment that does not exist',
      { payment: 'pay_01QzXo0KcV5sVQ2pWm8Tn3' },
      'payment',
    ),
    wrongBody('for more than is left', { amount: 2_500_001 }, 'amount', 'amount_too_large'),
    ...[0, 1.5, '1', 1_000_000_000_001].map((amount) =>
      wrongBody(`with an amount of ${JSON.stringify(amount)}`, { amount }, 'amount'),
    ),
    wrongBody('in both units', { presentment_amount: 1 }, 'presentment_amount'),
    ...[0, 1.5, '1', null, 1].map((part) =>
      wrongBody(
        `with a presentment_amount of ${JSON.stringify(part)} for a sale in USDC`,
        { amount: undefined, presentment_amount: part },
        'presentment_amount',
      ),
    ),
    wrongBody('by line, beside a sum', { line_items: [{ line: 0, quantity: 1 }] }, 'line_items'),
    ...[[{ line: 0, quantity: 1 }], [], null, {}].map((parts) =>
      wrongBody(
        `by lines ${JSON.stringify(parts)} of a sale without lines`,
        { amount: undefined, line_items: parts },
        'line_items',
      ),
    ),
    wrongBody('with a reason of 501 characters', { reason: 'x'.repeat(501) }, 'reason'),
  ],
  elsewhere: 'own',
  replay: 'required',
});

const refund = (payment: string, amount?: number, key?: string) =>
  api().call({
    path: '/v1/refunds',
    idempotencyKey: randomUUID(),
    body: { payment, ...(amount === undefined ? {} : { amount }) },
    ...(key === undefined ? {} : { key }),
  });

test("another account's and another mode's payment is not accepted", async () => {
  const { id } = await addTestPayment(api().db, api().merchant.test);
  const stranger = await api().addMerchant();
  for (const key of [stranger.test.key, api().merchant.live.key]) {
    const { status, body } = await refund(id, 1, key);
    assert.deepEqual(
      [status, body.error.code, body.error.param],
      [400, 'parameter_invalid', 'payment'],
    );
  }
});

test('without an amount everything left is refunded, and nothing remains', async () => {
  const { id } = await addTestPayment(api().db, api().merchant.test);
  assert.equal((await refund(id, 500_000)).body.amount, 500_000);
  assert.equal((await refund(id)).body.amount, 2_000_000);
  const { status, body } = await refund(id, 1);
  assert.deepEqual([status, body.error.code], [409, 'payment_already_refunded']);
  const payment = await api().call({ path: `/v1/payments/${id}` });
  assert.equal(payment.body.status, 'refunded');
});

test('simultaneous refunds never exceed the payment', async () => {
  const { id } = await addTestPayment(api().db, api().merchant.test);
  const answers = await Promise.all(Array.from({ length: 8 }, () => refund(id, 600_000)));
  const refunded = answers.filter(({ status }) => status === 201);
  assert.equal(refunded.length, 4);
});
