import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MINUTE_MS } from '#core/durations.ts';
import { atoms } from '#core/money.ts';
import { type PastPayment, previewRisk } from '#risk/preview-risk-rules.ts';

const OFF = { firstPaymentConfirmFrom: null, highAmountConfirmFrom: null, velocityPerHour: null };
const NOON = Date.parse('2026-11-02T12:00:00Z');

function paid(payerId: string, minute: number, rest: Partial<PastPayment> = {}): PastPayment {
  return {
    payerId,
    amount: atoms(10),
    settledAt: new Date(NOON + minute * MINUTE_MS),
    paidHereBefore: true,
    isSigned: false,
    ...rest,
  };
}

test('rules that are off affect no past payment', () => {
  const preview = previewRisk(OFF, [paid('a', 0), paid('a', 1)]);
  assert.deepEqual(preview, { payments: 2, stopped: 0, asked: 0, byRule: {} });
});

test('a declined payment counts for no later one, and the hour ends', () => {
  const settings = { ...OFF, velocityPerHour: 2 };
  const minutes = [0, 10, 20, 30, 61, 62];
  // The payments at minutes 20 and 30 would each be the third within an hour. At minute 61, only
  // the payment at minute 10 still counts.
  const preview = previewRisk(
    settings,
    minutes.map((minute) => paid('a', minute)),
  );
  assert.deepEqual(preview, { payments: 6, stopped: 3, asked: 0, byRule: { VELOCITY: 3 } });
});

test('only a new payer’s first payment needs confirmation, unless a wallet signed it', () => {
  const settings = { ...OFF, firstPaymentConfirmFrom: atoms(5), highAmountConfirmFrom: atoms(100) };
  const isNew = { paidHereBefore: false };
  const preview = previewRisk(settings, [
    paid('new', 0, isNew),
    paid('new', 1, isNew),
    paid('known', 2),
    paid('signed', 3, { ...isNew, isSigned: true }),
    paid('known', 4, { amount: atoms(100) }),
  ]);
  assert.deepEqual(preview, {
    payments: 5,
    stopped: 0,
    asked: 2,
    byRule: { FIRST_MERCHANT_PAYMENT: 1, HIGH_AMOUNT: 1 },
  });
});
