import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { Bug } from '#core/assert.ts';
import {
  cellOfSecret,
  decrypt,
  encrypt,
  equalInConstantTime,
  hashSecret,
  isSecret,
  newSecret,
  SECRET_PREFIXES,
  type SecretKind,
} from '#core/bearer-secrets.ts';

const KINDS = Object.keys(SECRET_PREFIXES) as SecretKind[];

const KEYS: readonly SecretKind[] = ['apiKeyTest', 'apiKeyLive', 'deviceKeyTest', 'deviceKeyLive'];

/** Returns typical typing errors of a secret: wrong, missing, doubled and swapped characters. */
function typingErrors(secret: string): string[] {
  const errors = new Set<string>();
  for (let i = 0; i < secret.length; i++) {
    const [before, own, after] = [secret.slice(0, i), secret.charAt(i), secret.slice(i + 1)];
    for (const other of 'aZ09') errors.add(before + other + after);
    errors.add(before + after);
    errors.add(before + own + own + after);
    errors.add(before + after.charAt(0) + own + after.slice(1));
  }
  errors.delete(secret);
  return [...errors];
}

test('the prefixes are those that secret scanners look for', () => {
  const { apiKeyTest, apiKeyLive, deviceKeyTest, deviceKeyLive, agentToken, pass } =
    SECRET_PREFIXES;
  assert.deepEqual(
    [apiKeyTest, apiKeyLive, deviceKeyTest, deviceKeyLive, agentToken, pass],
    ['tlsk_test_', 'tlsk_live_', 'tldk_test_', 'tldk_live_', 'agt_', 'nfc_'],
  );
});

test('keys from before the cell digit are still accepted', () => {
  const before: Readonly<Record<string, SecretKind>> = {
    tlsk_test_0123456789ABCDEFGHIJKLMNOPQRSTUV: 'apiKeyTest',
    tlsk_live_0123456789ABCDEFGHIJKLMNOPQRSTUV: 'apiKeyLive',
    tldk_test_0123456789ABCDEFGHIJKLMNOPQRSTUV: 'deviceKeyTest',
    tldk_live_0123456789ABCDEFGHIJKLMNOPQRSTUV: 'deviceKeyLive',
  };
  const checksums = ['a2Gctk', '2lF9gM', 'rew7pw', 'CAj7cS'];
  for (const [index, [text, kind]] of Object.entries(before).entries()) {
    assert.ok(isSecret(kind, text + checksums[index]), kind);
  }
});

test('a secret is recognized as its own kind and as no other', () => {
  for (const kind of KINDS) {
    const secret = newSecret(kind);
    const shape = KEYS.includes(kind) ? /^0[0-9A-Za-z]{38}$/ : /^[0-9A-Za-z]{38}$/;
    assert.match(secret.slice(SECRET_PREFIXES[kind].length), shape);
    assert.deepEqual(
      KINDS.filter((other) => isSecret(other, secret)),
      [kind],
    );
  }
});

/** Kinds of secrets, besides keys, that must be routed to their cell. */
const CROSSES: readonly SecretKind[] = [
  ...(['agentToken', 'pass', 'passCode', 'smartTap', 'appleVas'] as const),
  ...(['payerSession', 'session'] as const),
];

test('secrets that cross cells name their cell, all others do not', () => {
  for (const kind of KINDS) {
    const names = CROSSES.includes(kind) || KEYS.includes(kind);
    const secret = newSecret(kind, 7);
    assert.equal(isSecret(kind, secret), true, kind);
    assert.equal(cellOfSecret(kind, secret), names ? 7 : 0, kind);
    assert.equal(secret.charAt(SECRET_PREFIXES[kind].length) === '7' || !names, true, kind);
    assert.equal(cellOfSecret(kind, newSecret(kind)), 0, kind);
    assert.equal(cellOfSecret(kind, `${secret}0`), null, kind);
  }
});

test('the first cell writes no digit that an earlier release would refuse', () => {
  for (const kind of CROSSES) {
    assert.match(newSecret(kind).slice(SECRET_PREFIXES[kind].length), /^[0-9A-Za-z]{38}$/);
  }
});

test('every typing error is refused without a database query', () => {
  const secret = newSecret('apiKeyTest');
  const errors = typingErrors(secret);
  assert.ok(errors.length > 200);
  assert.deepEqual(
    errors.filter((text) => isSecret('apiKeyTest', text)),
    [],
  );
});

test('a test key does not become a live key if its prefix is changed', () => {
  const body = newSecret('apiKeyTest').slice(SECRET_PREFIXES.apiKeyTest.length);
  assert.equal(isSecret('apiKeyLive', SECRET_PREFIXES.apiKeyLive + body), false);
});

test('secrets never repeat', () => {
  const secrets = new Set(Array.from({ length: 1_000 }, () => newSecret('pass').slice(0, 12)));
  assert.equal(secrets.size, 1_000);
});

test('the stored hash is equal for equal secrets only, and does not reveal them', () => {
  const secret = newSecret('pass');
  assert.deepEqual(hashSecret(secret), hashSecret(secret));
  assert.notDeepEqual(hashSecret(secret), hashSecret(newSecret('pass')));
  assert.equal(hashSecret(secret).length, 32);
});

test('comparing texts of different lengths returns false instead of throwing', () => {
  assert.equal(equalInConstantTime(Buffer.from('ab'), Buffer.from('ab')), true);
  assert.equal(equalInConstantTime(Buffer.from('ab'), Buffer.from('ac')), false);
  assert.equal(equalInConstantTime(Buffer.from('ab'), Buffer.from('abc')), false);
});

const KEY = randomBytes(32);
const PLAIN = 'whsec_grün';

test('encrypted text can be decrypted with the same key and context', () => {
  assert.equal(decrypt(KEY, encrypt(KEY, PLAIN, 'we_1'), 'we_1'), PLAIN);
});

test("a row's secret moved to another row cannot be decrypted", () => {
  const sealed = encrypt(KEY, PLAIN, 'we_1');
  assert.throws(() => decrypt(KEY, sealed, 'we_2'));
});

test('another key, a changed byte or a truncated end decrypt nothing', () => {
  const sealed = encrypt(KEY, PLAIN, 'we_1');
  assert.throws(() => decrypt(randomBytes(32), sealed, 'we_1'));
  assert.throws(() => decrypt(KEY, sealed.subarray(0, -1), 'we_1'));
  assert.throws(() => decrypt(KEY, Buffer.alloc(0), 'we_1'));
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(sealed.readUInt8(i) ^ 1, i);
    assert.throws(() => decrypt(KEY, changed, 'we_1'), `byte ${i}`);
  }
});

test('a shortened authentication tag decrypts nothing', () => {
  const sealed = encrypt(KEY, '', 'we_1');
  assert.throws(() => decrypt(KEY, sealed.subarray(0, 16), 'we_1'));
});

test('encrypting the same text twice gives different bytes', () => {
  assert.notDeepEqual(encrypt(KEY, PLAIN, 'we_1'), encrypt(KEY, PLAIN, 'we_1'));
});

test('a key of another length is a bug', () => {
  assert.throws(() => encrypt(Buffer.alloc(16), PLAIN, 'we_1'), Bug);
  assert.throws(() => decrypt(Buffer.alloc(16), encrypt(KEY, PLAIN, 'we_1'), 'we_1'), Bug);
});
