import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { DECLINES, type Decline, paymentError } from '#payments/decline-codes.ts';
import type { Intent } from '../data/device-api.ts';
import { cashierDecline, customerDecline } from './result-words.ts';

const GUIDE = new URL('../../docs/guides/declines.md', import.meta.url);
const AT = new Date('2026-11-20T12:00:30Z');

function declined(error: unknown): Intent {
  return { last_payment_error: error } as Intent;
}

test('for each decline, the display shows the guide’s text for customers', async () => {
  const rows = (await readFile(GUIDE, 'utf8')).matchAll(/^\| `(\w+)` \| .+ \| (.+) \|$/gm);
  const guide = Object.fromEntries([...rows].map(([, code, words]) => [code, words]));
  const codes = Object.keys(DECLINES) as Decline[];
  const said = codes.map((code) => [code, customerDecline(declined(paymentError(code, AT)))]);
  assert.deepEqual(Object.fromEntries(said), guide);
});

test('words for developers are never shown, whatever the service leaves out', () => {
  const { customer_message, ...bare } = paymentError('insufficient_funds', AT);
  assert.ok(customer_message);
  for (const error of [bare, { ...bare, customer_message: '' }]) {
    assert.equal(
      customerDecline(declined(error)),
      'This payment cannot be accepted. Nothing was charged. Please pay another way.',
    );
  }
  assert.equal(customerDecline(declined(null)), 'Nothing was charged.');
});

test('texts on the till address the cashier, not the customer', () => {
  const codes = Object.keys(DECLINES) as Decline[];
  const said = codes.map((code) => cashierDecline(declined(paymentError(code, AT))));
  assert.equal(new Set(said).size, codes.length, 'each code has words of its own');
  for (const words of said) {
    assert.match(words, / Nothing was charged\.$/);
    assert.doesNotMatch(words, /\b(you|your)\b/i);
  }
  const full = paymentError('risk_blocked', AT, 'CEILING_REACHED');
  assert.match(cashierDecline(declined(full)), /^The network has reached its hourly limit\./);
  const later = { ...paymentError('payer_rejected', AT), decline_code: 'later', reason_code: 'X' };
  assert.equal(cashierDecline(declined(later)), 'Nothing was charged.');
});
