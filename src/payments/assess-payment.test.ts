import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { atoms } from '#core/money.ts';
import { assessPayment, type PaymentFacts } from '#payments/assess-payment.ts';
import { CREATED as NOON, OPEN } from '#testkit/fixtures/payments/intent-situations.ts';

/** The possible problems of a payment, one flag each, in the order of behavior.md 12.1. */
const NO_FAULTS = {
  credential: false,
  payerBlocked: false,
  chain: false,
  card: false,
  copied: false,
  /** True if a data loss may have outdated the card's counter. */
  lost: false,
  perPayment: false,
  perDay: false,
  listed: false,
  asked: false,
};
type Faults = typeof NO_FAULTS;

function factsWith(faults: Faults): PaymentFacts {
  return {
    intent: OPEN,
    // Sale plus tip, which the risk rules check.
    amount: atoms(1_000),
    payer: {
      id: 'pyr_1',
      livemode: false,
      address: '0x5b38Da6a701c568545dCfcB03FcB875f56beddC4',
      created: NOON,
      blocked_at: faults.payerBlocked ? NOON : null,
      limit_per_payment: faults.perPayment ? 999n : 1_000n,
      limit_per_day: faults.perDay ? 2_999n : 3_000n,
      confirm_first_payment: faults.asked,
    },
    credentialProblem: faults.credential ? 'pass_revoked' : null,
    card: { per_payment_limit: faults.card ? 999n : 1_000n, asks_since: faults.lost ? NOON : null },
    copied: faults.copied ? { confirmFrom: atoms(1_000), asksFirst: false } : null,
    preflight: faults.chain ? { ok: false, decline: 'insufficient_funds' } : { ok: true },
    settings: {
      firstPaymentConfirmFrom: null,
      highAmountConfirmFrom: null,
      velocityPerHour: null,
    },
    activity: {
      settled_today: 1_500n,
      under_way: 500n,
      paid_here_before: false,
      settled_here_within_hour: 0,
      under_way_here: 0,
      blocked_here: faults.listed,
      refused_within_hour: 0,
      refused_here_within_hour: 0,
    },
  };
}

function expected(faults: Faults): string {
  if (faults.credential) return 'pass_revoked';
  if (faults.payerBlocked) return 'risk_blocked';
  if (faults.chain) return 'insufficient_funds';
  if (faults.card || faults.perPayment || faults.perDay) return 'limit_exceeded';
  if (faults.listed) return 'risk_blocked BLOCKED_PAYER';
  if (faults.lost) return 'ask CARD_AFTER_RECOVERY';
  if (faults.asked) return 'ask FIRST_MERCHANT_PAYMENT';
  return faults.copied ? 'ask STATIC_PASS' : 'settle';
}

function outcomeOf(facts: PaymentFacts): string {
  const assessment = assessPayment(facts);
  switch (assessment.kind) {
    case 'settle':
      return 'settle';
    case 'ask_payer':
      return `ask ${assessment.rule}`;
    case 'decline':
      return [assessment.decline, assessment.rule].filter(Boolean).join(' ');
  }
}

test('the first check that fails decides, whatever else is wrong', () => {
  const flags = Object.keys(NO_FAULTS).map((fault) => [fault, fc.boolean()]);
  const anyFaults: fc.Arbitrary<Faults> = fc.record(Object.fromEntries(flags));
  fc.assert(
    fc.property(anyFaults, (faults) => {
      assert.equal(outcomeOf(factsWith(faults)), expected(faults));
    }),
    { numRuns: 500 },
  );
});

test('payments settled today and those in progress both count toward the day’s limit', () => {
  const facts = factsWith(NO_FAULTS);
  const withActivity = (settled: bigint, underWay: bigint) =>
    outcomeOf({
      ...facts,
      activity: { ...facts.activity, settled_today: settled, under_way: underWay },
    });
  assert.equal(withActivity(2_000n, 0n), 'settle');
  assert.equal(withActivity(0n, 2_000n), 'settle');
  assert.equal(withActivity(2_001n, 0n), 'limit_exceeded');
  assert.equal(withActivity(1_001n, 1_000n), 'limit_exceeded');
});
