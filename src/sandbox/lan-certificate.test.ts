import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { makeCertificate } from '#sandbox/lan-certificate.ts';

test('a certificate names its hosts, signs itself, and is valid for thirty days', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  const made = makeCertificate(['192.168.1.20', 'localhost'], { now });
  const read = new X509Certificate(made.cert);
  assert.equal(read.verify(read.publicKey), true);
  assert.equal(read.checkIP('192.168.1.20'), '192.168.1.20');
  assert.equal(read.checkHost('localhost'), 'localhost');
  assert.equal(read.checkIP('192.168.1.21'), undefined);
  assert.equal(read.fingerprint256, made.fingerprint);
  assert.equal(Date.parse(read.validTo), now + 30 * 86_400_000);
  assert.deepEqual(read.keyUsage, ['1.3.6.1.5.5.7.3.1'], 'for servers only');
  assert.equal(read.ca, false);
});

test('two starts have two keys', () => {
  const [one, other] = [makeCertificate(['10.0.0.1']), makeCertificate(['10.0.0.1'])];
  assert.notEqual(one.key, other.key);
  assert.notEqual(one.fingerprint, other.fingerprint);
});
