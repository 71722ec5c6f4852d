import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestIntent } from '#testkit/apis/api.ts';
import { addTestPayment } from '#testkit/apis/api-objects.ts';
import { testEndpoint, wrongBody, wrongIds } from '#testkit/apis/endpoint.ts';

const path = (id: string) => `/v1/payment_intents/${id}/cancel`;

const api = testEndpoint({
  name: 'POST /v1/payment_intents/{id}/cancel',
  scope: 'payments:write',
  good: async (started) => ({ method: 'POST', path: path((await createTestIntent(started)).id) }),
  status: 200,
  expect: ({ body }) => {
    assert.equal(body.status, 'canceled');
    assert.equal(body.cancellation_reason, 'requested_by_merchant');
    assert.notEqual(body.canceled_at, null);
  },
  wrong: [
    ...wrongIds(path, 'pi_01QzXo0KcV5sVQ2pWm8Tn3'),
    wrongBody('with a body', { reason: 'none' }, 'reason', 'parameter_unknown'),
  ],
  elsewhere: 'missing',
  replay: 'accepted',
});

test('canceling twice returns the canceled intent unchanged', async () => {
  const { id } = await createTestIntent(api());
  const first = await api().call({ method: 'POST', path: path(id) });
  const second = await api().call({ method: 'POST', path: path(id) });
  assert.equal(second.status, 200);
  assert.equal(second.text, first.text);
});

test('a paid intent cannot be canceled', async () => {
  const { intentId } = await addTestPayment(api().db, api().merchant.test);
  const { status, body } = await api().call({ method: 'POST', path: path(intentId) });
  assert.deepEqual([status, body.error.code], [409, 'payment_intent_unexpected_state']);
});
