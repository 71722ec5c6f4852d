import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addMs } from '#core/clock.ts';
import { VAS_MS } from '#payers/issue-phone-pass.ts';
import type { TappedPass } from '#payers/payer-queries.ts';
import { type CredentialState, verify } from '#payments/credential.ts';

const NOW = new Date('2026-11-23T12:00:00.000Z');
/** Time of a data loss that may have lost used taps of this pass. */
const DOUBTED_AT = addMs(NOW, -10_000);

/** Verifies an Apple phone's tap that was made at this time. */
function judgeAt(at: Date, usedBefore: readonly string[] = []) {
  const hash = Buffer.from('01', 'hex');
  const phone = { hash, doubtedAt: DOUBTED_AT, usedBefore: new Set(usedBefore), uses: [] };
  const result: CredentialState = {
    type: 'apple_vas',
    payerId: 'payer_1',
    pass: {} as TappedPass,
    phone,
  };
  const tap = {
    kind: 'apple_vas' as const,
    valueHash: hash,
    tapHash: Buffer.from('02', 'hex'),
    cell: 0,
    text: '',
    at,
  };
  const cardKey = Buffer.alloc(32);
  return verify(result, { type: 'apple_vas', tap }, { cardKey, now: NOW }).decline;
}

test('a phone’s tap must be current, and later than a loss of data', () => {
  assert.equal(judgeAt(NOW), null);
  assert.equal(judgeAt(addMs(DOUBTED_AT, 1)), null);
  assert.equal(judgeAt(DOUBTED_AT), 'pass_replayed');
  assert.equal(judgeAt(addMs(NOW, VAS_MS)), null);
  assert.equal(judgeAt(addMs(NOW, VAS_MS + 1)), 'pass_replayed');
});

test('a phone’s tap that was used before is refused', () => {
  assert.equal(judgeAt(NOW, ['02']), 'pass_replayed');
});
