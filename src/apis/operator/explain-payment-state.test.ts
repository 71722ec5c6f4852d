import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type AttemptFacts,
  findingsOf,
  type SupportFacts,
} from '#apis/operator/explain-payment-state.ts';
import { newId } from '#core/ids.ts';
import { atoms } from '#core/money.ts';
import { inState, newIntent } from '#payments/intent-rows.ts';
import type { Refund } from '#refunds/refund.ts';
import { COMMANDS } from '#testkit/fixtures/payments/intent-situations.ts';

/** Tests findings about payment states that the console's own test does not produce. */

const NOW = new Date('2026-11-25T12:00:00.000Z');
const BEFORE = new Date('2026-11-25T11:59:00.000Z');
const tenant = { accountId: newId('account', NOW), livemode: false };

const FACTS = newIntent({
  ...{ id: newId('paymentIntent', NOW), settlement_number: 1n, position: 1n, created: BEFORE },
  ...{ account_id: tenant.accountId, livemode: tenant.livemode, ahead_seconds: 0n },
  ...{ amount: atoms(2_500_000), terminal_id: newId('terminal', NOW), order_id: 'A1' },
  ...{ source: 'api', expires_at: NOW, tapped_at: BEFORE },
});

const { attempt } = COMMANDS.settle;
const PROCESSING = inState(FACTS, { status: 'processing', attempt });
const PAID = inState(FACTS, {
  ...{ status: 'succeeded', attempt, payment_id: newId('payment', NOW), tx_hash: '0x1' },
});

const QUEUED: AttemptFacts = {
  ...{ status: 'queued', decided_at: BEFORE, signed_at: null, included_at: null },
  ...{ waits_for: null, applied_at: null },
};

const SUBMITTED: AttemptFacts = { ...QUEUED, status: 'submitted', signed_at: BEFORE };

function codes(facts: Partial<SupportFacts>): string[] {
  const result = findingsOf({
    ...{ intent: PROCESSING, settledAt: null, attempt: QUEUED, reasons: [] },
    ...{ accountStatus: 'active', terminal: { status: 'active', lastSeen: NOW } },
    ...{ endpoints: [], deliveries: [], refunds: [], blocked: new Map(), now: NOW },
    ...facts,
  });
  return result.map(({ code, about }) => (about === null ? code : `${code}: ${about}`));
}

test('an unsent settlement waits for the reasons that stop the network', () => {
  assert.deepEqual(codes({}), ['waits_to_be_signed']);
  assert.deepEqual(codes({ reasons: ['paused', 'no_gas'] }), ['network_paused', 'network_no_gas']);
  assert.deepEqual(codes({ reasons: ['no_worker'], accountStatus: 'disabled' }), [
    'account_disabled',
    'network_no_worker',
  ]);
});

test('a sent settlement waits for a block, or for the certainty of its amount', () => {
  assert.deepEqual(codes({ attempt: SUBMITTED, reasons: ['no_node'] }), [
    'network_no_node',
    'waits_for_block',
  ]);
  const included = { ...SUBMITTED, included_at: NOW, waits_for: 'finalized' };
  assert.deepEqual(codes({ attempt: included }), ['waits_for_certainty: finalized']);
});

test('a result of the chain that is not booked yet is reported', () => {
  assert.deepEqual(codes({ attempt: { ...SUBMITTED, status: 'succeeded' } }), [
    'waits_to_be_booked',
  ]);
});

test("the delivery of all of the payment's events makes one finding", () => {
  const delivery = { attempt: 12, response_status: 503, updated: NOW };
  const deliveries = [
    { ...delivery, status: 'succeeded' as const, response_status: 200 },
    { ...delivery, status: 'failed' as const },
    { ...delivery, status: 'failed' as const },
    { ...delivery, status: 'pending' as const, attempt: 1, response_status: null },
  ];
  assert.deepEqual(codes({ intent: PAID, deliveries }), [
    'paid: 0x1',
    'delivery_given_up: 2 of 4, HTTP 503',
    'delivery_fails: 1 of 4, no answer',
  ]);
});

test('a refund that the token holds up differs from one in progress', () => {
  const refund = { id: 're_1', created: BEFORE, updated: NOW, status: 'pending' } as Refund;
  const failed = { ...refund, status: 'failed', failure_code: 'insufficient_balance' } as Refund;
  const blocked = new Map([['re_1', { since: BEFORE, by: 'Pausable: paused' }]]);
  assert.deepEqual(codes({ intent: PAID, refunds: [refund], blocked }).slice(2), [
    'refund_blocked: Pausable: paused',
  ]);
  assert.deepEqual(codes({ intent: PAID, refunds: [refund, failed] }).slice(2), [
    'refund_waits: re_1',
    'refund_failed: insufficient_balance',
  ]);
});
