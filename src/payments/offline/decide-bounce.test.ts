import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeTerms } from '#payments/offline/decide-bounce.ts';
import { countedAt, type Signed } from '#payments/offline/signed-sale.ts';
import { RATES } from '#testkit/apis/offline-sales.ts';

const NOW = new Date('2026-11-28T12:00:00.000Z');
const SECONDS = BigInt(NOW.getTime() / 1_000);
const HOUR = 3_600n;

function sale(change: Partial<Signed['authorization']> = {}): Signed {
  const salt = `0x${'00'.repeat(32)}` as const;
  return {
    sale: { merchantNumber: 1n, amount: 2_500_000n, salt },
    authorization: {
      from: `0x${'11'.repeat(20)}`,
      value: 2_511_250n,
      validAfter: 0n,
      validBefore: SECONDS + HOUR,
      nonce: salt,
      signature: `0x${'22'.repeat(65)}`,
      ...change,
    },
  };
}

const judge = (change: Partial<Signed['authorization']>, ratesUntil: Date | null = null) =>
  judgeTerms(sale(change), { rates: RATES, ratesUntil }, NOW);

test('an authorization is valid now, and for at most 72 hours', () => {
  assert.equal(judge({}), null);
  assert.equal(judge({ validBefore: SECONDS + 72n * HOUR }), null);
  assert.equal(judge({ validBefore: SECONDS + 72n * HOUR + 1n }), 'authorization_invalid');
  assert.equal(judge({ validAfter: SECONDS }), null);
  assert.equal(judge({ validAfter: SECONDS + 1n }), 'authorization_invalid');
  assert.equal(judge({ validBefore: SECONDS + 1n }), null);
  assert.equal(judge({ validBefore: SECONDS }), 'authorization_expired');
});

test('after a rate change is announced, no authorization is valid beyond it', () => {
  const until = new Date(NOW.getTime() + 3_600_000);
  assert.equal(judge({ validBefore: SECONDS + HOUR }, until), null);
  assert.equal(judge({ validBefore: SECONDS + HOUR + 1n }, until), 'rates_changed');
  assert.equal(judge({ value: 2_511_249n }), 'rates_changed');
  assert.equal(judge({ value: 2_511_251n }), 'rates_changed');
});

test('a till’s time counts within 72 hours before its arrival and 5 minutes after', () => {
  const at = (text: string) => countedAt(new Date(text), NOW).toISOString();
  assert.equal(at('2026-11-27T00:00:00.000Z'), '2026-11-27T00:00:00.000Z');
  assert.equal(at('1970-01-01T00:00:00.000Z'), '2026-11-25T12:00:00.000Z');
  assert.equal(at('2026-11-25T11:59:59.999Z'), '2026-11-25T12:00:00.000Z');
  assert.equal(at('2026-11-28T12:05:00.000Z'), '2026-11-28T12:05:00.000Z');
  assert.equal(at('2026-11-29T12:00:00.000Z'), '2026-11-28T12:05:00.000Z');
});
