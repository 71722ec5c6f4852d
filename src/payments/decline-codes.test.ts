import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  DECLINES,
  type Decline,
  type PaymentError,
  paymentError,
} from '#payments/decline-codes.ts';
import { renderIntent } from '#payments/render.ts';
import { OPEN } from '#testkit/fixtures/payments/intent-situations.ts';

const AT = new Date('2026-10-01T12:00:00Z');
const JARGON = /chain|token|allowance|intent|credential|settle|policy|usdc|[_{}]/i;
const MAX_LENGTH = 100;

function shownMessage(error: PaymentError): unknown {
  const shown = renderIntent({ ...OPEN, last_payment_error: error }).last_payment_error;
  return (shown as { customer_message?: unknown }).customer_message;
}

describe("the customer's message of a decline", () => {
  for (const [code, { customer }] of Object.entries(DECLINES)) {
    test(`${code}: short whole sentences without internal terms`, () => {
      assert.match(customer, /^[A-Z].*\.$/);
      assert.doesNotMatch(customer, JARGON);
      assert.ok(customer.length <= MAX_LENGTH, `${customer.length} characters`);
      assert.equal(shownMessage(paymentError(code as Decline, AT)), customer);
    });
  }

  test('a decline that an earlier release has stored has a message too', () => {
    const { customer_message, ...stored } = paymentError('pass_revoked', AT);
    assert.equal(shownMessage(stored), customer_message);
  });

  test('a decline that only a later release knows keeps its stored message', () => {
    const later = { ...paymentError('pass_revoked', AT), decline_code: 'pass_worn_out' as Decline };
    assert.equal(shownMessage({ ...later, customer_message: 'Worn out.' }), 'Worn out.');
  });
});
