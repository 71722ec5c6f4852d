import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkKey, fingerprint } from '#idempotency/request-fingerprint.ts';

test('a key is 1 to 255 printable ASCII characters', () => {
  for (const key of ['a', ' ', '~', 'a'.repeat(255), '8f14e45f-ceea-467f-a8d5-6a1c1d3b2e11']) {
    assert.equal(checkKey(key), null, key);
  }
  for (const key of ['', 'a'.repeat(256), 'ä', 'a\tb', 'a\n', '\u007f', '\u0000', '日']) {
    assert.equal(checkKey(key)?.code, 'idempotency_key_invalid', JSON.stringify(key));
  }
});

test('one request has one fingerprint, for any order of its members', () => {
  const print = (method: string, path: string, body: object) =>
    fingerprint(method, path, structuredClone(body) as never).toString('hex');
  const own = print('POST', '/v1/refunds', { payment: 'pay_1', amount: 5 });
  assert.equal(print('POST', '/v1/refunds', { amount: 5, payment: 'pay_1' }), own);
  const others = [
    print('PATCH', '/v1/refunds', { payment: 'pay_1', amount: 5 }),
    print('POST', '/v1/refund', { payment: 'pay_1', amount: 5 }),
    print('POST', '/v1/refunds', { payment: 'pay_1', amount: 6 }),
    print('POST', '/v1/refunds', { payment: 'pay_1' }),
    print('POST', '/v1/refunds', { payment: 'pay_1', amount: 5, reason: null }),
    print('POST', '/v1/refunds', {}),
  ];
  assert.equal(new Set([own, ...others]).size, 7);
});
