import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { DECLINES, type Decline, paymentError } from '#payments/decline.ts';
import type { Intent } from '../data/device.ts';
import { declineWords } from './words.ts';

const GUIDE = new URL('../../docs/guides/declines.md', import.meta.url);
const AT = new Date('2026-11-20T12:00:30Z');

function declined(error: unknown): Intent {
  return { last_payment_error: error } as Intent;
}

test('the till says of each decline what the guide says to the customer', async () => {
  const rows = (await readFile(GUIDE, 'utf8')).matchAll(/^\| `(\w+)` \| .+ \| (.+) \|$/gm);
  const guide = Object.fromEntries([...rows].map(([, code, words]) => [code, words]));
  const codes = Object.keys(DECLINES) as Decline[];
  const said = codes.map((code) => [code, declineWords(declined(paymentError(code, AT)))]);
  assert.deepEqual(Object.fromEntries(said), guide);
});

test('words for developers are never shown, whatever the service leaves out', () => {
  const { customer_message, ...bare } = paymentError('insufficient_funds', AT);
  assert.ok(customer_message);
  for (const error of [bare, { ...bare, customer_message: '' }, null]) {
    assert.equal(declineWords(declined(error)), 'Nobody was charged.');
  }
});
