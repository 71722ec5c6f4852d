import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { startOfUtcDay } from '#core/check-day-range.ts';
import { addMs } from '#core/clock.ts';
import { atoms } from '#core/money.ts';
import { type Payment, paymentStatus, totalCharged } from '#payments/payment.ts';
import { checkAccountRules, decideAmount, refundable } from '#refunds/refund-limits.ts';
import { PAYMENT_ROW, UNTIL } from '#testkit/fixtures/payments/payment-row.ts';

function payment({
  amount,
  reserved,
  refunded,
}: {
  amount: bigint;
  reserved?: bigint;
  refunded?: bigint;
}): Payment {
  return {
    ...PAYMENT_ROW,
    amount: atoms(amount),
    amount_reserved: atoms(reserved ?? 0n),
    amount_refunded: atoms(refunded ?? 0n),
  };
}

/** Cases: paid, reserved and requested amounts, and the decided amount or the refusal's code. */
const AMOUNTS: readonly (readonly [bigint, bigint, number | null, bigint | string])[] = [
  [100n, 0n, null, 100n],
  [100n, 0n, 100, 100n],
  [100n, 0n, 1, 1n],
  [100n, 0n, 101, 'amount_too_large'],
  [100n, 40n, null, 60n],
  [100n, 40n, 60, 60n],
  [100n, 40n, 61, 'amount_too_large'],
  [100n, 99n, 1, 1n],
  [100n, 100n, null, 'payment_already_refunded'],
  [100n, 100n, 1, 'payment_already_refunded'],
  [100n, 100n, 1_000, 'payment_already_refunded'],
  [1_000_000_000_000n, 0n, null, 1_000_000_000_000n],
];

test('a refund is the requested amount, or everything that is left, and never more', () => {
  for (const [amount, reserved, request, expected] of AMOUNTS) {
    const decided = decideAmount(payment({ amount, reserved }), request);
    const result = isRefusal(decided) ? decided.code : decided;
    assert.equal(result, expected, `${request} of ${amount}, ${reserved} reserved`);
  }
});

test('the refusal of too much names the rest, and the parameter', () => {
  const refusal = decideAmount(payment({ amount: 100n, reserved: 40n }), 61);
  assert.ok(isRefusal(refusal));
  assert.equal(refusal.param, 'amount');
  assert.match(refusal.message, /61.*60/);
});

test('pending refunds count as returned: only failed ones release their amount', () => {
  assert.equal(refundable(payment({ amount: 100n, reserved: 70n, refunded: 30n })), 30n);
});

test('fees are not refundable', () => {
  const whole = payment({ amount: 2_500_000n });
  assert.equal(totalCharged(whole), 2_512_500n);
  assert.equal(decideAmount(whole, null), 2_500_000n);
});

test('the status of a payment follows from succeeded refunds, not pending ones', () => {
  const statuses = [
    payment({ amount: 100n, reserved: 100n }),
    payment({ amount: 100n, reserved: 100n, refunded: 1n }),
    payment({ amount: 100n, reserved: 100n, refunded: 99n }),
    payment({ amount: 100n, reserved: 100n, refunded: 100n }),
  ].map(paymentStatus);
  assert.deepEqual(statuses, ['succeeded', 'partially_refunded', 'partially_refunded', 'refunded']);
});

const NO_LIMIT = { refundedToday: 0n, dailyLimit: 10n ** 15n };

function check(ms: number, account = NO_LIMIT) {
  return checkAccountRules(payment({ amount: 100n }), addMs(UNTIL, ms), {
    amount: 100n,
    ...account,
  });
}

test('the window is open until its last millisecond', () => {
  assert.equal(check(-1), null);
  assert.equal(check(0), 'refund_window_expired');
  assert.equal(check(1), 'refund_window_expired');
});

test('the daily limit may be used up to the last atom', () => {
  assert.equal(check(-1, { refundedToday: 900n, dailyLimit: 1_000n }), null);
  assert.equal(
    check(-1, { refundedToday: 901n, dailyLimit: 1_000n }),
    'refund_daily_limit_exceeded',
  );
  assert.equal(check(-1, { refundedToday: 0n, dailyLimit: 0n }), 'refund_daily_limit_exceeded');
});

test('the window is checked before the limit', () => {
  assert.equal(check(0, { refundedToday: 0n, dailyLimit: 0n }), 'refund_window_expired');
});

test('a day is a UTC day', () => {
  const days = [
    '2026-10-01T00:00:00.000Z',
    '2026-10-01T23:59:59.999Z',
    '2026-10-01T23:00:00-05:00',
  ];
  assert.deepEqual(
    days.map((at) => startOfUtcDay(new Date(at)).toISOString()),
    ['2026-10-01T00:00:00.000Z', '2026-10-01T00:00:00.000Z', '2026-10-02T00:00:00.000Z'],
  );
});
