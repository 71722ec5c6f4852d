import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { isRefusal } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { paymentError } from '#payments/decline-codes.ts';
import { NO_STATE, type PaymentIntent, paymentIntents } from '#payments/intent-rows.ts';
import {
  asOf,
  canBePaid,
  type IntentCommand,
  type Step,
  type Transition,
  transition,
} from '#payments/payment-intent.ts';
import { renderIntent } from '#payments/render.ts';
import { confirmationAskedAt, confirmationDeadline } from '#payments/save-intent-steps.ts';
import {
  ASKED,
  ASKED_EARLY,
  ASKED_LATE,
  CANCELED,
  COMMANDS,
  CREATED,
  EARLY_CONFIRM_BY,
  EXPIRES_AT,
  EXPIRES_MS,
  intentIn,
  LOST_ATTEMPT,
  OPEN,
  PAID,
  PROCESSING,
  SUCCEEDED,
} from '#testkit/fixtures/payments/intent-situations.ts';

type CommandName = keyof typeof COMMANDS;

/** Returns the events of the steps in short form, with the reason of a cancellation. */
function outcomeOf(result: Transition): string {
  if (isRefusal(result)) return 'refused';
  if (result.length === 0) return 'unchanged';
  return result
    .map(({ event, intent }) => {
      const name = event.replace('payment_intent.', '');
      return intent.status === 'canceled' ? `${name}: ${intent.cancellation_reason}` : name;
    })
    .join(', ');
}

type Row = Record<CommandName, string>;
const ALL_REFUSED = {
  settle: 'refused',
  ask_payer: 'refused',
  decline: 'refused',
  approve: 'refused',
  reject: 'refused',
  settled: 'refused',
  not_settled: 'refused',
  // The chain has settled the intent, so the stored status and the clock do not matter.
  rebuild: 'succeeded',
  settled_after_decline: 'succeeded',
} as const;

const MERCHANT = 'canceled: requested_by_merchant';
const EXPIRED = 'canceled: expired';
const GIVEN_UP = 'canceled: recovered';
const FAILED_AND_EXPIRED = `payment_failed, ${EXPIRED}`;

const AFTER_EXPIRY: Row = {
  ...ALL_REFUSED,
  cancel: EXPIRED,
  give_up: EXPIRED,
  time_passed: EXPIRED,
};
const AFTER_BOTH: Row = {
  ...ALL_REFUSED,
  cancel: FAILED_AND_EXPIRED,
  give_up: FAILED_AND_EXPIRED,
  time_passed: FAILED_AND_EXPIRED,
};
const TIMED_OUT_BUT_OPEN: Row = {
  ...ALL_REFUSED,
  settle: 'payment_failed, processing',
  ask_payer: 'payment_failed, requires_action',
  decline: 'payment_failed, payment_failed',
  cancel: `payment_failed, ${MERCHANT}`,
  give_up: `payment_failed, ${GIVEN_UP}`,
  time_passed: 'payment_failed',
};
const OPEN_ROW: Row = {
  ...ALL_REFUSED,
  settle: 'processing',
  ask_payer: 'requires_action',
  decline: 'payment_failed',
  cancel: MERCHANT,
  give_up: GIVEN_UP,
  time_passed: 'unchanged',
};
const ASKED_ROW: Row = {
  ...ALL_REFUSED,
  approve: 'processing',
  reject: 'payment_failed',
  cancel: MERCHANT,
  give_up: GIVEN_UP,
  time_passed: 'unchanged',
};
const PROCESSING_ROW: Row = {
  ...ALL_REFUSED,
  settled: 'succeeded',
  not_settled: 'payment_failed',
  cancel: 'refused',
  rebuild: 'succeeded',
  settled_after_decline: 'refused',
  give_up: 'refused',
  time_passed: 'unchanged',
};
const SUCCEEDED_ROW: Row = {
  ...ALL_REFUSED,
  cancel: 'refused',
  rebuild: 'refused',
  settled_after_decline: 'refused',
  give_up: 'refused',
  time_passed: 'unchanged',
};
const CANCELED_ROW: Row = {
  ...ALL_REFUSED,
  cancel: 'unchanged',
  give_up: 'unchanged',
  time_passed: 'unchanged',
};

/**
 * The expected result of each command in each situation. `ms` is the time relative to the expiry.
 */
const TABLE: readonly (readonly [situation: string, PaymentIntent, ms: number, Row])[] = [
  ['open, just created', OPEN, -EXPIRES_MS, OPEN_ROW],
  ['open, 1 ms before its expiry', OPEN, -1, OPEN_ROW],
  ['open, at its expiry', OPEN, 0, AFTER_EXPIRY],
  ['open, an hour after its expiry', OPEN, 3_600_000, AFTER_EXPIRY],
  ['asked, 1 ms before the deadline', ASKED_EARLY, -30_001, ASKED_ROW],
  ['asked, at the deadline, not expired', ASKED_EARLY, -30_000, TIMED_OUT_BUT_OPEN],
  ['asked, deadline passed, 1 ms before the expiry', ASKED_EARLY, -1, TIMED_OUT_BUT_OPEN],
  ['asked, deadline passed, at the expiry', ASKED_EARLY, 0, AFTER_BOTH],
  ['asked late, before the expiry', ASKED_LATE, -1, ASKED_ROW],
  [
    'asked late, expired, 1 ms before the deadline',
    ASKED_LATE,
    29_999,
    { ...ASKED_ROW, reject: FAILED_AND_EXPIRED },
  ],
  ['asked late, at the deadline', ASKED_LATE, 30_000, AFTER_BOTH],
  ['asked late, an hour later', ASKED_LATE, 3_600_000, AFTER_BOTH],
  ['processing, before the expiry', PROCESSING, -1, PROCESSING_ROW],
  [
    'processing, at the expiry',
    PROCESSING,
    0,
    { ...PROCESSING_ROW, not_settled: FAILED_AND_EXPIRED },
  ],
  [
    'processing, a day later',
    PROCESSING,
    86_400_000,
    { ...PROCESSING_ROW, not_settled: FAILED_AND_EXPIRED },
  ],
  ['succeeded, before the expiry', SUCCEEDED, -1, SUCCEEDED_ROW],
  ['succeeded, after the expiry', SUCCEEDED, 1, SUCCEEDED_ROW],
  ['canceled, before the expiry', CANCELED, -1, CANCELED_ROW],
  ['canceled, after the expiry', CANCELED, 1, CANCELED_ROW],
];

describe('every command in every situation', () => {
  for (const [situation, intent, ms, expected] of TABLE) {
    test(situation, () => {
      const results = Object.entries(COMMANDS).map(([name, command]) => [
        name,
        outcomeOf(transition(intent, command, addMs(EXPIRES_AT, ms))),
      ]);
      assert.deepEqual(Object.fromEntries(results), expected);
    });
  }
});

function steps(intent: PaymentIntent, command: IntentCommand, at: Date): readonly Step[] {
  const result = transition(intent, command, at);
  assert.ok(!isRefusal(result), 'it was refused');
  return result;
}

function end(intent: PaymentIntent, command: IntentCommand, at: Date): PaymentIntent {
  const last = steps(intent, command, at).at(-1);
  assert.ok(last !== undefined);
  return last.intent;
}

const EARLY = addMs(CREATED, 1_000);

/** Facts that no response shows. */
const INTERNAL = [
  'settlement_number',
  'account_id',
  'position',
  'traceparent',
  'declined_payer_id',
];

/** Another value of each type of column, and of each column that holds JSON. */
const OTHER: { readonly [of: string]: unknown } = {
  text: 'another',
  bigint: 77n,
  boolean: true,
  timestamptz: addMs(EXPIRES_AT, 3_600_000),
  presentment: { currency: 'eur', amount: 1, rate: '1', quotedAt: '', source: 'bank' },
  lines: { lineItems: [], discount: 1 },
  tipping: { percentages: [5] },
  metadata: { another: '1' },
  offline: { id: 'ofp_1', acceptedAt: '' },
  last_payment_error: paymentError('limit_exceeded', EXPIRES_AT),
};

test('each fact of an intent stays through all steps and is in each event', () => {
  const facts = Object.entries(paymentIntents.types).filter(
    ([name]) => name !== 'status' && !(name in NO_STATE) && !INTERNAL.includes(name),
  );
  assert.ok(facts.length > 15);
  for (const [name, type] of facts) {
    const other = OTHER[name] ?? OTHER[type.replace('?', '')];
    assert.ok(other !== undefined, `${name} needs another value here`);
    for (const before of [OPEN, ASKED_EARLY, PROCESSING, CANCELED]) {
      for (const command of Object.values(COMMANDS)) {
        const steps = transition({ ...before, [name]: other }, command, CREATED);
        for (const { intent, event } of isRefusal(steps) ? [] : steps) {
          const known: PaymentIntent = { ...intent, [name]: other };
          if (name !== 'last_payment_error') assert.deepEqual(intent, known, `${event}: ${name}`);
          const plain = { ...intent, [name]: OPEN[name as keyof typeof OPEN] };
          assert.notDeepEqual(renderIntent(known), renderIntent(plain), `${event}: ${name}`);
        }
      }
    }
  }
});

describe('the contents of steps', () => {
  test('an expired intent was canceled at its expiry, however late that was noticed', () => {
    const canceled = end(OPEN, { type: 'time_passed' }, addMs(EXPIRES_AT, 3_600_000));
    assert.ok(canceled.status === 'canceled');
    assert.deepEqual(canceled.canceled_at, EXPIRES_AT);
  });

  test('a merchant cancels at the time of the request', () => {
    const canceled = end(ASKED_EARLY, { type: 'cancel' }, EARLY);
    assert.ok(canceled.status === 'canceled');
    assert.deepEqual(canceled.canceled_at, EARLY);
  });

  test('a decline has its code, its reason and its time, and leaves no attempt behind', () => {
    const rule = { type: 'decline', decline: 'risk_blocked', rule: 'VELOCITY' } as const;
    const declined = end(OPEN, rule, EARLY);
    assert.equal(declined.last_payment_error?.decline_code, 'risk_blocked');
    assert.equal(declined.last_payment_error.reason_code, 'VELOCITY');
    assert.equal(declined.last_payment_error.created, EARLY.toISOString());
    const plain = end(OPEN, { type: 'decline', decline: 'pass_revoked' }, EARLY);
    assert.equal(plain.last_payment_error?.reason_code, 'PASS_REVOKED');
    assert.equal(plain.declined_payer_id, null, 'the credential may be unknown');
    assert.deepEqual({ ...plain, ...NO_STATE }, plain);
  });

  test('an unanswered confirmation failed at its deadline', () => {
    const failed = end(ASKED_EARLY, { type: 'time_passed' }, addMs(EARLY_CONFIRM_BY, 9));
    assert.equal(failed.last_payment_error?.decline_code, 'confirmation_timeout');
    assert.equal(failed.last_payment_error.created, EARLY_CONFIRM_BY.toISOString());
  });

  test('a rejection is payer_rejected; an approval that cannot settle has its own reason', () => {
    const no = end(ASKED_EARLY, { type: 'reject' }, EARLY);
    assert.equal(no.last_payment_error?.decline_code, 'payer_rejected');
    const late = end(ASKED_EARLY, { type: 'reject', decline: 'limit_exceeded' }, EARLY);
    assert.equal(late.last_payment_error?.decline_code, 'limit_exceeded');
  });

  test('the requested attempt settles, and success clears old errors', () => {
    const declined = end(OPEN, COMMANDS.decline, EARLY);
    const waiting = end(declined, COMMANDS.ask_payer, EARLY);
    const processing = end(waiting, { type: 'approve' }, EARLY);
    const paid = end(
      processing,
      { type: 'settled', paymentId: PAID.payment_id, txHash: PAID.tx_hash },
      EARLY,
    );
    assert.deepEqual(paid, SUCCEEDED);
  });

  test('only intents given up after a loss are canceled as recovered, at that time', () => {
    const canceled = end(OPEN, { type: 'give_up' }, EARLY);
    assert.ok(canceled.status === 'canceled');
    assert.deepEqual([canceled.cancellation_reason, canceled.canceled_at], ['recovered', EARLY]);
  });

  test("a canceled intent that the chain has settled succeeds with the chain's facts", () => {
    const rebuilt = end(CANCELED, COMMANDS.rebuild, addMs(EXPIRES_AT, 3_600_000));
    assert.ok(rebuilt.status === 'succeeded');
    assert.deepEqual([rebuilt.payment_id, rebuilt.tx_hash], ['pay_3', '0x03']);
    assert.deepEqual(rebuilt.attempt, LOST_ATTEMPT);
  });

  test('the refusal to cancel an intent says that it can be refunded', () => {
    const refusal = transition(PROCESSING, { type: 'cancel' }, EARLY);
    assert.ok(isRefusal(refusal));
    assert.equal(refusal.code, 'payment_intent_unexpected_state');
    assert.match(refusal.message, /processing.*Refund/);
  });
});

test('canBePaid allows exactly the intents whose payment would be decided', () => {
  for (const intent of [OPEN, ASKED_EARLY, ASKED_LATE, PROCESSING, SUCCEEDED, CANCELED]) {
    for (const now of [CREATED, EARLY_CONFIRM_BY, EXPIRES_AT]) {
      const settled = transition(intent, COMMANDS.settle, now);
      assert.deepEqual(canBePaid(intent, now), isRefusal(settled) ? settled : null);
    }
  }
});

describe('the 60 seconds of a confirmation', () => {
  const ASKED_AT = addMs(CREATED, 10_000);
  const waiting = intentIn({ ...ASKED, confirm_by: confirmationDeadline(ASKED_AT) });
  const approveAfter = (ms: number) =>
    outcomeOf(transition(waiting, { type: 'approve' }, addMs(ASKED_AT, ms)));

  test('an approval after 59.9 s counts', () => assert.equal(approveAfter(59_900), 'processing'));
  test('an approval after 60.0 s is too late', () => assert.equal(approveAfter(60_000), 'refused'));
  test('an approval after 60.1 s is too late', () => assert.equal(approveAfter(60_100), 'refused'));
  test('the deadline shows when the payer was asked', () => {
    assert.deepEqual(confirmationAskedAt(confirmationDeadline(ASKED_AT)), ASKED_AT);
  });
});

const EVENT_OF_STATUS = {
  requires_payment_method: 'payment_intent.payment_failed',
  requires_action: 'payment_intent.requires_action',
  processing: 'payment_intent.processing',
  succeeded: 'payment_intent.succeeded',
  canceled: 'payment_intent.canceled',
} as const;

/** Commands that occur without any data loss. */
const EVERYDAY = (Object.keys(COMMANDS) as CommandName[]).filter(
  (name) => name !== 'rebuild' && name !== 'settled_after_decline',
);

/** A command, and the delay before it. */
const moves = fc.array(
  fc.record({
    name: fc.constantFrom(...EVERYDAY),
    waitMs: fc.oneof(
      fc.constant(0),
      fc.constantFrom(1, 59_999, 60_000, 119_999, 120_000),
      fc.integer({ min: 0, max: 90_000 }),
    ),
  }),
  { maxLength: 25 },
);

function commandAt(name: CommandName, now: Date): IntentCommand {
  return name === 'ask_payer'
    ? { ...COMMANDS.ask_payer, confirmBy: confirmationDeadline(now) }
    : COMMANDS[name];
}

/** Applies the moves as the service would, and returns those that were not refused. */
function play(sequence: readonly { readonly name: CommandName; readonly waitMs: number }[]) {
  const history: { before: PaymentIntent; now: Date; steps: readonly Step[] }[] = [];
  let intent = OPEN;
  let now = CREATED;
  for (const { name, waitMs } of sequence) {
    now = addMs(now, waitMs);
    const result = transition(intent, commandAt(name, now), now);
    const made = isRefusal(result) ? [] : result;
    history.push({ before: intent, now, steps: made });
    intent = made.at(-1)?.intent ?? intent;
  }
  return history;
}

describe('for any commands in any order', () => {
  test('an intent succeeds at most once, and an ended intent never changes again', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        const events = play(sequence).flatMap((move) => move.steps.map((step) => step.event));
        const ends = events.flatMap((event, index) =>
          /succeeded|canceled/.test(event) ? [index] : [],
        );
        assert.ok(ends.length <= 1);
        assert.ok(ends.every((index) => index === events.length - 1));
      }),
    );
  });

  test('a canceled intent can never be charged, and nothing settles unrequested', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        const states = play(sequence).flatMap((move) =>
          move.steps.map((step) => step.intent.status),
        );
        states.forEach((status, index) => {
          if (status === 'succeeded') assert.equal(states[index - 1], 'processing');
          if (status === 'processing')
            assert.equal(states.slice(0, index).includes('canceled'), false);
        });
      }),
    );
  });

  test('every step has the event of its state, and never changes the sale', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        for (const { intent, event } of play(sequence).flatMap((move) => move.steps)) {
          assert.equal(event, EVENT_OF_STATUS[intent.status]);
          const { last_payment_error, declined_payer_id } = intent;
          assert.deepEqual(
            { ...intent, ...NO_STATE, status: OPEN.status },
            { ...OPEN, last_payment_error, declined_payer_id },
          );
        }
      }),
    );
  });

  test('readers see exactly what the expiry worker will write, whenever it runs', () => {
    const later = fc.integer({ min: 0, max: 200_000 });
    fc.assert(
      fc.property(moves, later, later, (sequence, firstMs, secondMs) => {
        for (const { before, now } of play(sequence)) {
          const [first, second] = [addMs(now, firstMs), addMs(now, firstMs + secondMs)];
          const written = steps(before, { type: 'time_passed' }, first).at(-1)?.intent ?? before;
          assert.deepEqual(asOf(before, first), written);
          assert.deepEqual(asOf(written, second), asOf(before, second));
        }
      }),
    );
  });

  test('no reader ever sees an unpaid, expired intent as open', () => {
    fc.assert(
      fc.property(moves, fc.integer({ min: 0, max: 200_000 }), (sequence, ms) => {
        for (const { before, now } of play(sequence)) {
          const at = addMs(now, ms);
          if (at >= EXPIRES_AT) assert.notEqual(asOf(before, at).status, 'requires_payment_method');
        }
      }),
    );
  });
});
