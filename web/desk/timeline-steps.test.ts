import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Payment, PaymentIntent, Timeline } from '../data/types/dashboard.ts';
import { courseOf, deliverySteps } from './timeline-steps.ts';

const INTENT: PaymentIntent = {
  id: 'pi_1',
  object: 'payment_intent',
  livemode: false,
  network: 'testnet',
  amount: 1,
  currency: 'usdc',
  status: 'requires_payment_method',
  terminal: 'tml_1',
  order_id: 'o1',
  description: null,
  metadata: {},
  source: 'api',
  payment: null,
  tx_hash: null,
  next_action: null,
  last_payment_error: {
    type: 'payment_error',
    code: 'payment_declined',
    decline_code: 'insufficient_funds',
    reason_code: 'INSUFFICIENT_FUNDS',
    message: 'Not enough USDC.',
    created: '2026-11-20T10:00:05.000Z',
  },
  cancellation_reason: null,
  canceled_at: null,
  split_group: null,
  picked_up_at: '2026-11-20T10:00:02.000Z',
  tapped_at: '2026-11-20T10:00:04.000Z',
  expires_at: '2026-11-20T10:02:00.000Z',
  created: '2026-11-20T10:00:00.000Z',
} as PaymentIntent;

const TIMELINE: Timeline = {
  object: 'timeline',
  payment_intent: 'pi_1',
  settlements: [
    {
      status: 'failed',
      decided_at: '2026-11-20T10:00:04.500Z',
      deadline: null,
      signed_at: null,
      times_sent: 0,
      included_at: null,
      waits_for: null,
      block_number: null,
      certainty: null,
      booked_at: '2026-11-20T10:00:04.900Z',
      final_at: null,
    },
  ],
  events: [{ id: 'evt_1', type: 'payment_intent.created', created: '2026-11-20T10:00:00.000Z' }],
  deliveries: [
    {
      id: 'wdl_1',
      webhook_endpoint: 'we_1',
      event: 'evt_1',
      status: 'failed',
      attempt: 12,
      response_status: 500,
      updated: '2026-11-20T10:00:01.000Z',
    },
  ],
};

test('a timeline lists causes before effects, and names each failure', () => {
  const steps = courseOf({ intent: INTENT, payment: undefined, timeline: TIMELINE });
  assert.deepEqual(
    steps.map(({ key, tone }) => `${key}: ${tone}`),
    [
      'created: info',
      'shown: info',
      'tapped: info',
      'decided 0: info',
      'failed 0: bad',
      'declined: bad',
    ],
  );
  assert.match(steps.at(-1)?.detail ?? '', /Not enough USDC/);
  assert.match(steps.at(-1)?.codes ?? '', /^insufficient_funds /);
  // Event names are for developers and have their own list, so no step contains one.
  for (const { title, event } of steps) {
    assert.equal(event, undefined);
    assert.doesNotMatch(title, /[a-z][._][a-z]/);
  }
});

test('events and deliveries are listed apart from people’s actions', () => {
  const told = deliverySteps(TIMELINE);
  assert.deepEqual(
    told.map(({ key, tone }) => `${key}: ${tone}`),
    ['evt_1: plain', 'wdl_1: bad'],
  );
  assert.equal(told.at(-1)?.link, 'we_1/wdl_1');
  // Event names are in separate elements, so that a translating browser leaves them alone.
  const types = told.map(({ event }) => event);
  assert.deepEqual(types, ['payment_intent.created', 'payment_intent.created']);
});

test('a block comes after what it settles, although its time is cut to a second', () => {
  const [settlement] = TIMELINE.settlements;
  assert.ok(settlement);
  const settled = { ...settlement, status: 'succeeded' as const };
  const timeline: Timeline = {
    ...TIMELINE,
    settlements: [{ ...settled, signed_at: '2026-11-20T10:00:04.700Z' }],
    events: [],
    deliveries: [],
  };
  const payment = { settled_at: '2026-11-20T10:00:04.000Z', block_number: 7 } as Payment;
  const intent = { ...INTENT, last_payment_error: null };
  assert.deepEqual(
    courseOf({ intent, payment, timeline }).map(({ key }) => key),
    ['created', 'shown', 'tapped', 'decided 0', 'signed 0', 'mined', 'booked 0'],
  );
});
