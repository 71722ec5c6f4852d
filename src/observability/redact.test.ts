import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newSecret, SECRET_PREFIXES, type SecretKind } from '#core/bearer-secrets.ts';
import { redact, redactJson, redactOwn } from '#observability/redact.ts';

test('of our own secrets only the prefix remains, anywhere in a text', () => {
  for (const [kind, prefix] of Object.entries(SECRET_PREFIXES)) {
    const secret = newSecret(kind as SecretKind);
    for (const text of [secret, `{"error":"key ${secret} is wrong"}`, `/v1/x?key=${secret}&y=1`]) {
      const left = redact(text);
      assert(!left.includes(secret.slice(prefix.length)), `${text} left ${left}`);
    }
    assert.equal(redactOwn(secret), `${prefix}…`);
  }
  assert.equal(redact('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw='), 'whsec_…');
});

test('bearer tokens, passwords in URLs and links that grant access are masked', () => {
  const cases: Readonly<Record<string, string>> = {
    'Authorization: Bearer abcdef012345': 'Authorization: Bearer …',
    'postgresql://app:p4ss%2Fword@db/tapline refused': 'postgresql://app:…@db/tapline refused',
    'GET /verify?token=eyJhbGciOi&next=%2F': 'GET /verify?token=…&next=%2F',
    'https://node.example.com/v2?apikey=k3y0f0ne': 'https://node.example.com/v2?apikey=…',
  };
  for (const [text, left] of Object.entries(cases)) assert.equal(redact(text), left);
});

test('secrets that the process was given are masked literally', () => {
  const key = `0x${'ab12'.repeat(16)}`;
  assert.equal(redact(`cannot sign with ${key}`, [key]), 'cannot sign with …');
});

test('ids, hashes, addresses and amounts stay, because logs are about them', () => {
  const line = JSON.stringify({
    request: 'req_0000046zX0aB',
    hash: `0x${'ab12'.repeat(16)}`,
    node: 'https://node.example.com',
    amount: '2500000',
  });
  assert.equal(redact(line), line);
});

test('the data of a tap is masked in every text of a value, and the rest stays', () => {
  const secret = newSecret('pass');
  const card = 'https://pay.example.com/card/card_01?p=0123456789abcdef0123&c=0123456789ABCDEF';
  const value = {
    credential: { type: 'nfc_id', value: secret },
    urls: [card, 'https://shop.example/?page=2'],
    code: 'pass_01ABCDEFGHIJ.12345678',
    amount: 250,
    none: null,
  };
  assert.deepEqual(redactJson(value), {
    credential: { type: 'nfc_id', value: 'nfc_…' },
    urls: ['https://pay.example.com/card/card_01?p=…&c=…', 'https://shop.example/?page=2'],
    code: 'pass_01ABCDEFGHIJ.…',
    amount: 250,
    none: null,
  });
});
