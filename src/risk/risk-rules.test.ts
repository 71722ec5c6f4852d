import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { atoms } from '#core/money.ts';
import {
  assessRisk,
  blockedPayer,
  firstMerchantPayment,
  highAmount,
  isRefusedOften,
  type RiskFacts,
  staticPass,
  velocity,
} from '#risk/risk-rules.ts';
import { DEFAULT_RISK_SETTINGS, toRiskSettings } from '#risk/risk-settings.ts';

const OFF = { firstPaymentConfirmFrom: null, highAmountConfirmFrom: null, velocityPerHour: null };

/** The facts of a payment that no rule affects. */
const CALM: RiskFacts = {
  settings: OFF,
  amount: atoms(1_000_000),
  blockedHere: false,
  paidHereBefore: true,
  paymentsWithinHour: 0,
  payerConfirmsFirst: false,
  copied: null,
  refusals: { ofPayer: 0, ofAll: 0 },
};

function facts(changes: Partial<RiskFacts>): RiskFacts {
  return { ...CALM, ...changes };
}

describe('FIRST_MERCHANT_PAYMENT', () => {
  const settings = { ...OFF, firstPaymentConfirmFrom: atoms(50) };

  test('asks from the amount upwards, not below it', () => {
    const first = { settings, paidHereBefore: false };
    assert.equal(firstMerchantPayment(facts({ ...first, amount: atoms(49) })), 'allow');
    assert.equal(firstMerchantPayment(facts({ ...first, amount: atoms(50) })), 'confirm');
    assert.equal(firstMerchantPayment(facts({ ...first, amount: atoms(51) })), 'confirm');
  });

  test('does not ask a payer who has paid here before', () => {
    assert.equal(firstMerchantPayment(facts({ settings, amount: atoms(1_000) })), 'allow');
    const wish = { payerConfirmsFirst: true };
    assert.equal(firstMerchantPayment(facts({ ...wish, amount: atoms(1) })), 'allow');
  });

  test('asks a payer who wants it for any amount, under any policy of the account', () => {
    const first = { paidHereBefore: false, amount: atoms(1) };
    assert.equal(firstMerchantPayment(facts(first)), 'allow');
    assert.equal(firstMerchantPayment(facts({ ...first, payerConfirmsFirst: true })), 'confirm');
  });
});

test('HIGH_AMOUNT asks from the amount upwards, even regulars', () => {
  const settings = { ...OFF, highAmountConfirmFrom: atoms(500) };
  assert.equal(highAmount(facts({ settings, amount: atoms(499) })), 'allow');
  assert.equal(highAmount(facts({ settings, amount: atoms(500) })), 'confirm');
  assert.equal(highAmount(facts({ amount: atoms(500) })), 'allow');
});

test('VELOCITY blocks the payment after the last that the hour allows', () => {
  const settings = { ...OFF, velocityPerHour: 3 };
  assert.equal(velocity(facts({ settings, paymentsWithinHour: 2 })), 'allow');
  assert.equal(velocity(facts({ settings, paymentsWithinHour: 3 })), 'block');
  assert.equal(velocity(facts({ paymentsWithinHour: 1_000 })), 'allow');
});

test('BLOCKED_PAYER blocks a payer on the account’s list', () => {
  assert.equal(blockedPayer(facts({ blockedHere: true })), 'block');
  assert.equal(blockedPayer(facts({})), 'allow');
});

test('REFUSED_OFTEN: a merchant with many rejections cannot ask, but can still sell', () => {
  const high = { settings: { ...OFF, highAmountConfirmFrom: atoms(50) } };
  const refused = (ofPayer: number, ofAll: number) =>
    assessRisk(facts({ ...high, refusals: { ofPayer, ofAll } }));
  assert.equal(refused(9, 49).kind, 'confirm');
  assert.deepEqual(refused(10, 10), { kind: 'block', rule: 'REFUSED_OFTEN' });
  assert.deepEqual(refused(0, 50), { kind: 'block', rule: 'REFUSED_OFTEN' });
  const small = { ...high, amount: atoms(49), refusals: { ofPayer: 99, ofAll: 99 } };
  assert.equal(
    assessRisk(facts(small)).kind,
    'allow',
    'payments that need no confirmation still work',
  );
});

test('STATIC_PASS asks from the amount upwards if the network has set one', () => {
  const copied = { copied: { confirmFrom: atoms(50), asksFirst: false } };
  assert.equal(staticPass(facts({ ...copied, amount: atoms(49) })), 'allow');
  assert.equal(staticPass(facts({ ...copied, amount: atoms(50) })), 'confirm');
  assert.equal(staticPass(facts({ amount: atoms(1_000_000) })), 'allow');
  const strict = { copied: { confirmFrom: atoms(50), asksFirst: true }, amount: atoms(49) };
  assert.equal(staticPass(facts({ ...strict, paidHereBefore: false })), 'confirm');
  assert.equal(staticPass(facts({ ...strict, paidHereBefore: true })), 'allow');
});

describe('all rules together', () => {
  const anyLimit = fc.option(fc.integer({ min: 0, max: 100 }).map(atoms), { nil: null });
  const anyFacts: fc.Arbitrary<RiskFacts> = fc.record({
    settings: fc.record({
      firstPaymentConfirmFrom: anyLimit,
      highAmountConfirmFrom: anyLimit,
      velocityPerHour: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
    }),
    amount: fc.integer({ min: 1, max: 100 }).map(atoms),
    blockedHere: fc.boolean(),
    paidHereBefore: fc.boolean(),
    paymentsWithinHour: fc.integer({ min: 0, max: 6 }),
    payerConfirmsFirst: fc.boolean(),
    copied: fc.option(
      fc.record({
        confirmFrom: fc.integer({ min: 1, max: 100 }).map(atoms),
        asksFirst: fc.boolean(),
      }),
      { nil: null },
    ),
    refusals: fc.record({
      ofPayer: fc.integer({ min: 0, max: 12 }),
      ofAll: fc.integer({ min: 0, max: 60 }),
    }),
  });

  test('ask for no confirmation of payments that would be blocked anyway', () => {
    fc.assert(
      fc.property(anyFacts, (one) => {
        const blocks = blockedPayer(one) === 'block' || velocity(one) === 'block';
        const asks = [firstMerchantPayment, highAmount, staticPass].some(
          (rule) => rule(one) === 'confirm',
        );
        const asking = isRefusedOften(one) ? 'block' : 'confirm';
        const expected = blocks ? 'block' : asks ? asking : 'allow';
        assert.equal(assessRisk(one).kind, expected);
      }),
    );
  });

  test('name the first rule that decided', () => {
    const settings = { ...OFF, highAmountConfirmFrom: atoms(1), velocityPerHour: 1 };
    const both = facts({ settings, paidHereBefore: false, payerConfirmsFirst: true });
    assert.deepEqual(assessRisk(both), { kind: 'confirm', rule: 'FIRST_MERCHANT_PAYMENT' });
    const known = facts({ settings });
    assert.deepEqual(assessRisk(known), { kind: 'confirm', rule: 'HIGH_AMOUNT' });
    const often = facts({ settings, paymentsWithinHour: 1 });
    assert.deepEqual(assessRisk(often), { kind: 'block', rule: 'VELOCITY' });
    const listed = facts({ settings, paymentsWithinHour: 1, blockedHere: true });
    assert.deepEqual(assessRisk(listed), { kind: 'block', rule: 'BLOCKED_PAYER' });
  });
});

test('an account without settings asks only from 50 USDC on, at a first payment', () => {
  assert.deepEqual(toRiskSettings(undefined), DEFAULT_RISK_SETTINGS);
  assert.deepEqual(DEFAULT_RISK_SETTINGS, { ...OFF, firstPaymentConfirmFrom: 50_000_000n });
});
