import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { atoms } from '#core/money.ts';
import { type Payment, toPayment } from '#payments/payment.ts';
import { checkAccountRules, decideAmount, refundable, startOfUtcDay } from '#refunds/refund.ts';

const SETTLED = new Date('2026-10-01T12:00:00.000Z');
const UNTIL = new Date('2027-03-30T12:00:00.000Z');

function payment({
  amount,
  reserved,
  refunded,
}: {
  amount: bigint;
  reserved?: bigint;
  refunded?: bigint;
}): Payment {
  return toPayment({
    id: 'pay_1',
    recovered: false,
    account_id: 'acct_1',
    livemode: false,
    position: 1n,
    created: SETTLED,
    ahead_seconds: 0n,
    payment_intent_id: 'pi_1',
    terminal_id: 'tml_1',
    payer_id: 'pyr_1',
    payer_address: '0xaa',
    receipt_number: null,
    order_id: 'A-1',
    split_group: null,
    method_type: 'wallet_pass',
    credential_type: 'nfc_id',
    amount,
    tip: 0n,
    presentment: null,
    fee_acquirer: 7_500n,
    fee_protocol: 5_000n,
    fee_cashback: 1_250n,
    amount_reserved: reserved ?? 0n,
    amount_refunded: refunded ?? 0n,
    chain_id: 31_337n,
    settlement_number: 1n,
    batch_number: 1n,
    tx_hash: '0x01',
    block_number: 7n,
    log_index: 0,
    settled_at: SETTLED,
    refundable_until: UNTIL,
  });
}

/** Paid, reserved, asked for; the decided amount or the refusal's code. */
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

test('a refund is what was asked for, or everything that is left, and never more', () => {
  for (const [amount, reserved, asked, expected] of AMOUNTS) {
    const decided = decideAmount(payment({ amount, reserved }), asked);
    const found = isRefusal(decided) ? decided.code : decided;
    assert.equal(found, expected, `${asked} of ${amount}, ${reserved} reserved`);
  }
});

test('the refusal of too much says how much is left, and about which parameter', () => {
  const refusal = decideAmount(payment({ amount: 100n, reserved: 40n }), 61);
  assert.ok(isRefusal(refusal));
  assert.equal(refusal.param, 'amount');
  assert.match(refusal.message, /61.*60/);
});

test('what is pending counts as gone: only failed refunds give it back', () => {
  assert.equal(refundable(payment({ amount: 100n, reserved: 70n, refunded: 30n })), 30n);
});

test('fees are not part of what can be refunded', () => {
  const whole = payment({ amount: 2_500_000n });
  assert.equal(whole.totalCharged, 2_512_500n);
  assert.equal(decideAmount(whole, null), 2_500_000n);
});

test('the status of a payment follows from what was refunded, not from what is pending', () => {
  const statuses = [
    payment({ amount: 100n, reserved: 100n }),
    payment({ amount: 100n, reserved: 100n, refunded: 1n }),
    payment({ amount: 100n, reserved: 100n, refunded: 99n }),
    payment({ amount: 100n, reserved: 100n, refunded: 100n }),
  ].map((one) => one.status);
  assert.deepEqual(statuses, ['succeeded', 'partially_refunded', 'partially_refunded', 'refunded']);
});

const NO_LIMIT = { refundedToday: 0n, dailyLimit: 10n ** 15n };

function check(ms: number, account = NO_LIMIT) {
  const refund = { amount: atoms(100), now: addMs(UNTIL, ms) };
  return checkAccountRules(payment({ amount: 100n }), refund, account);
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

test('the window is looked at before the limit', () => {
  assert.equal(check(0, { refundedToday: 0n, dailyLimit: 0n }), 'refund_window_expired');
});

test('a day is a day of UTC', () => {
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
