import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Answer } from '../data/api.ts';
import type { Confirmation } from '../data/payer-api.ts';
import { nextRings, type Ring, type RingEvent, type Rings } from './ring-machine.ts';

const ASKED_AT = Date.parse('2026-11-20T12:00:00.000Z');

const QUESTION: Confirmation = {
  object: 'confirmation',
  livemode: false,
  network: 'testnet',
  payment_intent: 'pi_1',
  status: 'requires_action',
  account: 'acct_1',
  merchant_name: 'Blue Door Café',
  amount: 2_500_000,
  currency: 'usdc',
  presentment: null,
  tip: 0,
  order_id: 'A1',
  description: null,
  reason_code: 'FIRST_MERCHANT_PAYMENT',
  expires_at: '2026-11-20T12:01:00.000Z',
  payment: null,
  decline_code: null,
};

const questionWith = (part: Partial<Confirmation> = {}): Confirmation => ({ ...QUESTION, ...part });
const done = (part: Partial<Confirmation>): Answer<Confirmation> => ({
  is: 'done',
  value: questionWith(part),
  status: 200,
  serverTime: null,
});
const refused = (code: string, status = 409): Answer<Confirmation> => ({
  is: 'refused',
  status,
  error: { type: 'x', code, message: `because of ${code}`, param: null, request_id: 'req_1' },
});
const UNKNOWN: Answer<Confirmation> = { is: 'unknown' };
const NOT_SENT: Answer<Confirmation> = { is: 'not_sent' };

const request: Ring = { at: 'asked', confirmation: QUESTION, remark: null };
const answering = (part: object = {}): Ring =>
  ({
    at: 'answering',
    confirmation: QUESTION,
    yes: true,
    sends: 1,
    isTaken: false,
    ...part,
  }) as Ring;
const other: Ring = {
  at: 'asked',
  confirmation: questionWith({ payment_intent: 'pi_2' }),
  remark: null,
};
const ended: Ring = { at: 'ended', confirmation: QUESTION, outcome: 'paid', message: null };

const answered = (answer: Answer<Confirmation>): RingEvent => ({
  type: 'answered',
  intent: 'pi_1',
  answer,
});
const say = (yes: boolean): RingEvent => ({ type: 'answer', intent: 'pi_1', yes });
const listed = (...confirmations: Confirmation[]): RingEvent => ({ type: 'listed', confirmations });
const tick = (seconds: number): RingEvent => ({ type: 'tick', now: ASKED_AT + seconds * 1000 });

const lookedUp = (status: string): RingEvent => ({
  type: 'looked_up',
  intent: 'pi_1',
  confirmation: questionWith({ status }),
});

/** Describes the screen in a few words. */
function shown(rings: Rings): string {
  return rings
    .map((ring) => {
      if (ring.at === 'ended') return ring.outcome;
      if (ring.at === 'asked') return ring.remark === null ? 'asked' : 'asked, with a remark';
      return `${ring.yes ? 'yes' : 'no'}${ring.isTaken ? ', taken' : ''}`;
    })
    .join(' + ');
}

test('every event in every state', () => {
  const declined = { status: 'requires_payment_method', decline_code: 'insufficient_funds' };
  const rejected = { status: 'requires_payment_method', decline_code: 'payer_rejected' };
  const late = { status: 'requires_payment_method', decline_code: 'confirmation_timeout' };
  const again = questionWith({ expires_at: '2026-11-20T12:05:00.000Z' });
  const table: readonly (readonly [string, Rings, RingEvent, string])[] = [
    ['a shop asks', [], listed(QUESTION), 'asked'],
    ['asked once, told twice', [request], listed(QUESTION), 'asked'],
    [
      'two tills at once',
      [request],
      listed(QUESTION, questionWith({ payment_intent: 'pi_2' })),
      'asked + asked',
    ],
    ['answered in another window', [request], listed(), 'gone'],
    ['a yes', [request], say(true), 'yes'],
    ['a no', [request], say(false), 'no'],
    ['another answer after the first', [answering()], say(false), 'yes'],
    ['an answer after the end', [ended], say(true), 'paid'],
    ['the list forgets what is being answered', [answering()], listed(), 'yes'],
    ['the list still has what was answered', [ended], listed(QUESTION), 'paid'],
    ['the pass is tapped again', [ended], listed(again), 'asked'],
    ['tapped again while the answer is on its way', [answering()], listed(again), 'yes'],
    ['59 seconds', [request], tick(59), 'asked'],
    ['60 seconds', [request], tick(60), 'expired'],
    ['60 seconds after a yes', [answering()], tick(60), 'yes'],
    ['paid', [answering()], answered(done({ status: 'succeeded' })), 'paid'],
    ['the chain is slow', [answering()], answered(done({ status: 'processing' })), 'yes, taken'],
    ['declined by now', [answering()], answered(done(declined)), 'declined'],
    ['a no that was taken', [answering({ yes: false })], answered(done(rejected)), 'rejected'],
    [
      'an approval after another device’s rejection',
      [answering()],
      answered(done(rejected)),
      'rejected',
    ],
    ['too late by the service’s clock', [answering()], answered(done(late)), 'expired'],
    ['an unknown result', [answering()], answered(UNKNOWN), 'yes'],
    ['never left', [answering()], answered(NOT_SENT), 'asked, with a remark'],
    ['never left the second time', [answering({ sends: 2 })], answered(NOT_SENT), 'yes'],
    [
      'nothing settles now',
      [answering()],
      answered(refused('service_unavailable', 503)),
      'asked, with a remark',
    ],
    [
      'nothing settles now, after a lost answer',
      [answering({ sends: 2 })],
      answered(refused('service_unavailable', 503)),
      'yes',
    ],
    ['the service fails', [answering()], answered(refused('internal_error', 500)), 'yes'],
    ['too many', [answering()], answered(refused('rate_limit_exceeded', 429)), 'yes'],
    [
      'a yes that is too late',
      [answering()],
      answered(refused('payment_intent_unexpected_state')),
      'refused',
    ],
    [
      'a no after a yes in another window',
      [answering({ yes: false })],
      answered(refused('payment_intent_unexpected_state')),
      'gone',
    ],
    [
      'a yes that was taken and came to nothing',
      [answering({ sends: 3, isTaken: true })],
      answered(refused('payment_intent_unexpected_state')),
      'declined',
    ],
    [
      'the shop canceled it',
      [{ ...ended, outcome: 'gone' } as Ring],
      lookedUp('canceled'),
      'canceled',
    ],
    [
      'canceled before the yes',
      [{ ...ended, outcome: 'refused' } as Ring],
      lookedUp('canceled'),
      'canceled',
    ],
    [
      'paid by another window',
      [{ ...ended, outcome: 'gone' } as Ring],
      lookedUp('succeeded'),
      'gone',
    ],
    ['a look-up that is older than the answer', [answering()], lookedUp('canceled'), 'yes'],
    ['closed', [ended, other], { type: 'closed', intent: 'pi_1' }, 'asked'],
    ['not closed while it is asked', [request], { type: 'closed', intent: 'pi_1' }, 'asked'],
    [
      'another device’s answer',
      [request],
      { ...answered(UNKNOWN), intent: 'pi_9' } as RingEvent,
      'asked',
    ],
  ];
  for (const [name, before, event, after] of table) {
    assert.equal(shown(nextRings(before, event)), after, name);
  }
});

test('whatever happens, no payment rings twice at once, and no response is lost', () => {
  const answer = fc.constantFrom(
    done({ status: 'processing' }),
    done({ status: 'succeeded' }),
    refused('service_unavailable', 503),
    refused('payment_intent_unexpected_state'),
    UNKNOWN,
    NOT_SENT,
  );
  const intent = fc.constantFrom('pi_1', 'pi_2');
  const event: fc.Arbitrary<RingEvent> = fc.oneof(
    fc
      .subarray(['pi_1', 'pi_2'])
      .map((ids) => listed(...ids.map((id) => questionWith({ payment_intent: id })))),
    fc.record({ type: fc.constant('answer' as const), intent, yes: fc.boolean() }),
    fc.record({ type: fc.constant('sent' as const), intent }),
    fc.record({ type: fc.constant('answered' as const), intent, answer }),
    fc.record({ type: fc.constant('closed' as const), intent }),
    fc.nat(120).map(tick),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), (events) => {
      let rings: Rings = [];
      for (const one of events) {
        const before = rings;
        rings = nextRings(before, one);
        const ids = rings.map((ring) => ring.confirmation.payment_intent);
        assert.equal(new Set(ids).size, ids.length, 'one ring per payment');
        for (const ring of before) {
          if (ring.at !== 'answering') continue;
          const now = rings.find(
            (other) => other.confirmation.payment_intent === ring.confirmation.payment_intent,
          );
          assert.ok(now !== undefined, 'an answer on its way stays until it is known');
          if (now.at === 'answering') assert.equal(now.yes, ring.yes, 'a yes stays a yes');
        }
      }
    }),
  );
});
