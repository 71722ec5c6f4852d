import '../testing/texts.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { SaleLines } from '#prices/sale-lines.ts';
import type { Answer } from '../data/api.ts';
import type { Intent } from '../data/device-api.ts';
import type { OfflineRequest } from '../data/offline-request.ts';
import type { Cart } from './cart.ts';
import { next, type TillEvent, takesPasses } from './till-machine.ts';
import { type Create, NEW_TILL, type Phase, type Tap, type Till } from './till-phases.ts';

const INTENT: Intent = {
  id: 'pi_1',
  object: 'payment_intent',
  livemode: false,
  network: 'testnet',
  amount: 2_500_000,
  currency: 'usdc',
  presentment: null,
  line_items: null,
  discount: 0,
  discount_rate: null,
  discount_name: null,
  tipping: null,
  tip: null,
  status: 'requires_payment_method',
  terminal: 'tml_1',
  order_id: 'A1',
  description: null,
  metadata: {},
  source: 'terminal',
  payment: null,
  tx_hash: null,
  next_action: null,
  last_payment_error: null,
  cancellation_reason: null,
  canceled_at: null,
  split_group: null,
  location: null,
  offline: null,
  cashier: null,
  picked_up_at: null,
  tapped_at: null,
  expires_at: '2026-11-20T12:02:00.000Z',
  created: '2026-11-20T12:00:00.000Z',
  payment_url: 'http://127.0.0.1:4242/pay/0000000010000000000000',
  waits_for: null,
};

const CREATE: Create = {
  key: 'create 1',
  amount: 2_500_000n,
  currency: null,
  lines: null,
  splitGroup: null,
  tipping: null,
  cashier: null,
};
const REQUEST: OfflineRequest = {
  chainId: 84532,
  usdc: '0x01',
  usdcName: 'USD Coin',
  usdcVersion: '2',
  settlement: '0x02',
  merchantNumber: 7,
  merchantName: 'Blue Door Café',
  amount: 2_500_000n,
  value: 2_500_000n,
  validBefore: 1,
  salt: '0x03',
};
const SLIP = { code: 'ABCD-EF01', amount: 2_500_000n, acceptedAt: '2026-11-20T12:00:00.000Z' };
const TAP: Tap = { key: 'tap 1', credential: { type: 'nfc_id', value: 'nfc_1' }, tip: null };

const intent = (part: Partial<Intent> = {}): Intent => ({ ...INTENT, ...part });
const done = (part: Partial<Intent> = {}): Answer<Intent> => ({
  is: 'done',
  value: intent(part),
  status: 200,
  serverTime: null,
});
const refused = (code: string, status = 409): Answer<Intent> => ({
  is: 'refused',
  status,
  error: { type: 'x', code, message: `because of ${code}`, param: null, request_id: 'req_1' },
});
const UNKNOWN: Answer<Intent> = { is: 'unknown' };
const NOT_SENT: Answer<Intent> = { is: 'not_sent' };
const DECLINE = {
  type: 'payment_error',
  code: 'payment_declined',
  decline_code: 'insufficient_funds',
  reason_code: 'INSUFFICIENT_FUNDS',
  message: 'Too little USDC.',
  created: '2026-11-20T12:00:30.000Z',
} as Intent['last_payment_error'];

const till = (phase: Phase, part: Partial<Till> = {}): Till => ({ ...NEW_TILL, phase, ...part });
const open = (part: object = {}): Phase =>
  ({
    at: 'open',
    intent: INTENT,
    tip: null,
    declined: false,
    remark: null,
    since: 10,
    ...part,
  }) as Phase;
const tapping = (part: object = {}): Phase =>
  ({ at: 'tapping', intent: INTENT, tap: TAP, sends: 1, since: 10, ...part }) as Phase;
const creating = (part: object = {}): Phase =>
  ({ at: 'creating', create: CREATE, sends: 1, since: 10, ...part }) as Phase;
const following = (part: object = {}): Phase =>
  ({
    at: 'following',
    intent: intent({ status: 'processing' }),
    tip: null,
    since: 10,
    ...part,
  }) as Phase;
const canceling = (part: object = {}): Phase =>
  ({ at: 'canceling', intent: INTENT, tip: null, quietly: false, since: 10, ...part }) as Phase;

/** Returns the screen in one word: the phase, or the result. */
function shown({ phase }: Till): string {
  if (phase.at === 'result') return phase.outcome;
  if (phase.at === 'open' && phase.declined) return 'open, declined';
  if ((phase.at === 'open' || phase.at === 'keypad') && phase.remark !== null) {
    return `${phase.at}, ${phase.remark.kind}`;
  }
  return phase.at;
}

const answered = (answer: Answer<Intent>) =>
  ({ type: 'tap_answered', key: TAP.key, answer, now: 20 }) as const;
const seen = (part: Partial<Intent>, askedAt = 15) =>
  ({ type: 'seen', intent: intent(part), askedAt, now: 20 }) as const;

test('events that end a tap, and events that do not', () => {
  const table: readonly (readonly [string, Phase, TillEvent, string])[] = [
    ['paid', tapping(), answered(done({ status: 'succeeded' })), 'paid'],
    ['the chain is slow', tapping(), answered(done({ status: 'processing' })), 'following'],
    [
      'the customer is asked',
      tapping(),
      answered(done({ status: 'requires_action' })),
      'following',
    ],
    ['declined', tapping(), answered(done({ last_payment_error: DECLINE })), 'open, declined'],
    ['no answer', tapping(), answered(UNKNOWN), 'tapping'],
    ['known not sent', tapping(), answered(NOT_SENT), 'open, not_sent'],
    ['not sent, but sent before', tapping({ sends: 2 }), answered(NOT_SENT), 'tapping'],
    ['nothing settles', tapping(), answered(refused('service_unavailable', 503)), 'open, not_sent'],
    [
      'the same after a lost one',
      tapping({ sends: 2 }),
      answered(refused('service_unavailable', 503)),
      'tapping',
    ],
    ['time ran out', tapping(), answered(refused('request_timeout', 503)), 'tapping'],
    ['a fault', tapping(), answered(refused('internal_error', 500)), 'tapping'],
    ['still running', tapping(), answered(refused('idempotency_request_in_progress')), 'tapping'],
    ['another state', tapping(), answered(refused('payment_intent_unexpected_state')), 'following'],
    [
      'too many requests',
      tapping(),
      answered(refused('rate_limit_exceeded', 429)),
      'open, refused',
    ],
    [
      'the answer to another tap',
      tapping(),
      { ...answered(done({ status: 'succeeded' })), key: 'tap 0' },
      'tapping',
    ],
    ['seen unpaid', tapping(), seen({}), 'tapping'],
    [
      'seen declined: perhaps another till',
      tapping(),
      seen({ last_payment_error: DECLINE }),
      'tapping',
    ],
    ['seen processing', tapping(), seen({ status: 'processing' }), 'tapping'],
    ['seen paid', tapping(), seen({ status: 'succeeded' }), 'paid'],
    [
      'seen expired',
      tapping(),
      seen({ status: 'canceled', cancellation_reason: 'expired' }),
      'expired',
    ],
    ['paid, but older than the tap', tapping(), seen({ status: 'succeeded' }, 5), 'tapping'],
    ['canceled, but older than the tap', tapping(), seen({ status: 'canceled' }, 5), 'tapping'],
    ['charged meanwhile', tapping(), { type: 'charge', create: CREATE, now: 20 }, 'tapping'],
    ['canceled meanwhile', tapping(), { type: 'cancel', now: 20 }, 'tapping'],
    [
      'another pass meanwhile',
      tapping(),
      { type: 'tap', tap: { ...TAP, key: 'tap 2' }, now: 20 },
      'tapping',
    ],
    ['new payment meanwhile', tapping(), { type: 'again', now: 20 }, 'tapping'],
  ];
  for (const [name, phase, event, expected] of table) {
    assert.equal(shown(next(till(phase), event)), expected, name);
  }
});

test('a tap keeps its key until its result is known', () => {
  const after = next(till(tapping()), answered(UNKNOWN));
  assert.ok(after.phase.at === 'tapping');
  assert.equal(after.phase.tap.key, TAP.key);
});

test('events that open a payment, and events that do not', () => {
  const created = (answer: Answer<Intent>) => ({ type: 'created', answer, now: 20 }) as const;
  const table: readonly (readonly [string, Phase, TillEvent, string, boolean])[] = [
    ['opened', creating(), created(done()), 'open', false],
    ['known not sent', creating(), created(NOT_SENT), 'keypad, not_sent', false],
    ['no answer', creating(), created(UNKNOWN), 'creating', false],
    ['not sent, but sent before', creating({ sends: 2 }), created(NOT_SENT), 'creating', false],
    ['refused', creating(), created(refused('account_not_live')), 'keypad, refused', false],
    [
      'a discount needs a manager',
      creating(),
      created(refused('manager_required')),
      'keypad, needs_manager',
      false,
    ],
    [
      'a wrong code of a manager',
      creating({ create: { ...CREATE, managerCode: 'AAAA-AAAA' } }),
      created(refused('manager_required')),
      'keypad, code_invalid',
      false,
    ],
    [
      'refused after a lost one',
      creating({ sends: 2 }),
      created(refused('account_not_live')),
      'keypad, refused',
      true,
    ],
    ['gave up', creating(), { type: 'gave_up', now: 20 }, 'keypad, not_sent', true],
    [
      'gave up before it was sent',
      creating({ sends: 0 }),
      { type: 'gave_up', now: 20 },
      'keypad, not_sent',
      false,
    ],
    [
      'paid by the time of a replay',
      creating(),
      created(done({ status: 'succeeded' })),
      'paid',
      false,
    ],
    [
      'charged twice',
      creating(),
      { type: 'charge', create: { ...CREATE, key: 'create 2' }, now: 20 },
      'creating',
      false,
    ],
  ];
  for (const [name, phase, event, expected, leavesOrphan] of table) {
    const after = next(till(phase, { typed: '2.50' }), event);
    assert.equal(shown(after), expected, name);
    assert.equal(after.orphan !== null, leavesOrphan, name);
    if (after.phase.at === 'keypad')
      assert.equal(after.typed, '2.50', `${name}: the amount is kept`);
    if (after.phase.at === 'creating') assert.equal(after.phase.create.key, CREATE.key, name);
  }
});

test('an open payment follows what the service says', () => {
  const table: readonly (readonly [string, Phase, TillEvent, string])[] = [
    [
      'canceled by the merchant',
      open(),
      seen({ status: 'canceled', cancellation_reason: 'requested_by_merchant' }),
      'canceled',
    ],
    ['expired', open(), seen({ status: 'canceled', cancellation_reason: 'expired' }), 'expired'],
    [
      'declined, then expired',
      open({ declined: true }),
      seen({ status: 'canceled', cancellation_reason: 'expired' }),
      'declined',
    ],
    ['declined elsewhere', open(), seen({ last_payment_error: DECLINE }), 'open, declined'],
    [
      'the decline that is shown already',
      open({ declined: true, intent: intent({ last_payment_error: DECLINE }) }),
      seen({ last_payment_error: DECLINE }),
      'open, declined',
    ],
    ['paid elsewhere', open(), seen({ status: 'succeeded' }), 'paid'],
    ['tapped elsewhere', open(), seen({ status: 'processing' }), 'following'],
    ['another intent', open(), seen({ id: 'pi_2', status: 'succeeded' }), 'open'],
    ['settled', following(), seen({ status: 'succeeded' }), 'paid'],
    ['declined in the end', following(), seen({ last_payment_error: DECLINE }), 'open, declined'],
    ['a status of tomorrow', open(), seen({ status: 'on_hold' as Intent['status'] }), 'following'],
    ['charged meanwhile', following(), { type: 'charge', create: CREATE, now: 20 }, 'following'],
    ['canceled meanwhile', following(), { type: 'cancel', now: 20 }, 'following'],
    ['cancel', open(), { type: 'cancel', now: 20 }, 'canceling'],
    [
      'canceled',
      canceling(),
      { type: 'cancel_answered', answer: done({ status: 'canceled' }), now: 20 },
      'canceled',
    ],
    [
      'cancel got lost',
      canceling(),
      { type: 'cancel_answered', answer: UNKNOWN, now: 20 },
      'canceling',
    ],
    [
      'too late to cancel',
      canceling(),
      { type: 'cancel_answered', answer: refused('payment_intent_unexpected_state'), now: 20 },
      'following',
    ],
    ['canceled, but paid', canceling(), seen({ status: 'succeeded' }), 'paid'],
    ['a pass while canceling', canceling(), { type: 'tap', tap: TAP, now: 20 }, 'canceling'],
    [
      'new payment after a decline',
      open({ declined: true }),
      { type: 'again', now: 20 },
      'canceling',
    ],
    ['new payment without a result', open(), { type: 'again', now: 20 }, 'open'],
    [
      'and back to the keypad',
      canceling({ quietly: true }),
      { type: 'cancel_answered', answer: done({ status: 'canceled' }), now: 20 },
      'keypad',
    ],
    [
      'a decline that was paid after all',
      canceling({ quietly: true }),
      seen({ status: 'succeeded' }),
      'paid',
    ],
  ];
  for (const [name, phase, event, expected] of table) {
    assert.equal(shown(next(till(phase), event)), expected, name);
  }
});

test('a cancel while the customer is asked wins or loses, and the till shows the result', () => {
  const asks = intent({ status: 'requires_action', next_action: null });
  const state = till(following({ intent: asks, tip: 250_000n }));
  const sent = next(state, { type: 'cancel', now: 20 });
  assert.equal(shown(sent), 'canceling');
  const answer = (one: Answer<Intent>) =>
    ({ type: 'cancel_answered', answer: one, now: 30 }) as const;
  assert.equal(shown(next(sent, answer(done({ status: 'canceled' })))), 'canceled');
  assert.equal(shown(next(sent, seen({ status: 'requires_action' }, 25))), 'canceling');
  assert.equal(shown(next(sent, answer(UNKNOWN))), 'canceling', 'the till asks again');
  const late = next(sent, answer(refused('payment_intent_unexpected_state')));
  assert.ok(late.phase.at === 'following');
  assert.equal(late.phase.tip, 250_000n);
  assert.equal(shown(next(late, seen({ status: 'succeeded' }, 35))), 'paid');
  const closed = next(sent, answer(refused('service_unavailable', 503)));
  assert.equal(shown(closed), 'following', 'the customer is still asked');
  assert.equal(shown(next(closed, { type: 'tap', tap: TAP, now: 40 })), 'following');
});

test('if a payment takes a tip, the customer is asked before a pass is accepted', () => {
  const tipped = intent({ tipping: { percentages: [10, 15, 20] } });
  const state = till(open({ intent: tipped }));
  assert.equal(takesPasses(state.phase), false);
  assert.equal(shown(next(state, { type: 'tap', tap: TAP, now: 20 })), 'open');
  const chosen = next(state, { type: 'tip', tip: 375_000n, now: 20 });
  assert.equal(takesPasses(chosen.phase), true);
  const declined = next(next(chosen, { type: 'tap', tap: { ...TAP, tip: 375_000n }, now: 30 }), {
    ...answered(done({ tipping: { percentages: [10] }, last_payment_error: DECLINE })),
    now: 40,
  });
  assert.ok(declined.phase.at === 'open');
  assert.equal(declined.phase.tip, 375_000n, 'the tip is kept after a decline');
});

test('typed digits keep the currency in which they were typed', () => {
  const typed = (text: string, currency: string | null | undefined) =>
    ({ type: 'typed', text, currency, now: 20 }) as const;
  const keypad = till({ at: 'keypad', remark: null, since: 10 });
  const yen = next(keypad, typed('1250', 'jpy'));
  assert.equal(yen.typedIn, 'jpy');
  // Editing the digits before the till knows its currency again keeps them in yen.
  assert.equal(next(yen, typed('12500', undefined)).typedIn, 'jpy');
  assert.equal(next(yen, typed('125', undefined)).typedIn, 'jpy');
  // A new amount belongs to no currency until the till knows its own.
  for (const text of ['', '7', '9.1250']) {
    assert.equal('typedIn' in next(yen, typed(text, undefined)), false, text);
  }
  assert.equal(next(yen, typed('1', null)).typedIn, null);
});

test('typed digits survive a payment from the merchant’s server', () => {
  const typing = till({ at: 'keypad', remark: null, since: 0 }, { typed: '12.' });
  const result = next(typing, { type: 'found', intent: intent({ source: 'api' }), now: 20 });
  assert.equal(shown(result), 'open');
  const paid = next(result, { ...seen({ source: 'api', status: 'succeeded' }, 25), now: 30 });
  assert.equal(shown(paid), 'paid');
  assert.equal(next(paid, { type: 'again', now: 40 }).typed, '12.');
});

test('an offline sale waits for a signature, and only a cancel ends it otherwise', () => {
  const keypad = till({ at: 'keypad', remark: null, since: 0 }, { typed: '2.50' });
  const sale = { request: REQUEST, lines: null };
  const asking = next(keypad, { type: 'charge_offline', sale, now: 20 });
  assert.equal(shown(asking), 'asking');
  const others: readonly TillEvent[] = [
    { type: 'charge', create: CREATE, now: 30 },
    { type: 'found', intent: INTENT, now: 30 },
    { type: 'tap', tap: TAP, now: 30 },
    { type: 'again', now: 30 },
    seen({ status: 'succeeded' }),
    answered(done({ status: 'succeeded' })),
    { type: 'charge_offline', sale: { ...sale, request: { ...REQUEST, amount: 1n } }, now: 30 },
  ];
  for (const event of others) assert.equal(next(asking, event), asking, event.type);
  const canceled = next(asking, { type: 'cancel', now: 30 });
  assert.equal(shown(canceled), 'keypad');
  assert.equal(canceled.typed, '2.50', 'the amount is kept');
  const stored = { type: 'accepted', request: REQUEST, slip: SLIP } as const;
  const other = { ...stored, request: { ...REQUEST, salt: `0x${'9'.repeat(64)}` as const } };
  assert.equal(next(asking, { ...other, now: 30 }), asking, 'of an earlier request');
  const accepted = next(asking, { ...stored, now: 30 });
  assert.equal(shown(accepted), 'accepted');
  assert.equal(accepted.typed, '');
  assert.equal(next(accepted, { ...stored, now: 40 }), accepted);
  assert.equal(shown(next(accepted, { type: 'again', now: 40 })), 'keypad');
  assert.equal(next(keypad, { ...stored, now: 30 }), keypad);
});

test('a refused offline sale leaves the keypad as it is, with the reason', () => {
  const keypad = till({ at: 'keypad', remark: null, since: 0 }, { typed: '2.50' });
  const after = next(keypad, { type: 'not_offline', message: 'Too much.', now: 20 });
  assert.equal(shown(after), 'keypad, refused');
  assert.equal(after.typed, '2.50');
});

test('a payment that is abandoned for an offline sale is canceled later', () => {
  const left = next(till(canceling(), { typed: '2.50' }), { type: 'leave', now: 20 });
  assert.equal(shown(left), 'keypad');
  assert.deepEqual(left.left, [INTENT.id]);
  assert.equal(left.typed, '2.50');
  const after = next(left, { type: 'left_settled', id: INTENT.id, now: 30 });
  assert.deepEqual(after.left, []);
  for (const phase of [open(), tapping(), following(), creating()]) {
    assert.equal(shown(next(till(phase), { type: 'leave', now: 20 })), phase.at, 'not left');
  }
});

test('an offline sale replaces the payment of the same amount that was left open', () => {
  const charge = (before: Till, amount = REQUEST.amount) => {
    const sale = { request: { ...REQUEST, amount }, lines: null };
    const after = next(before, { type: 'charge_offline', sale, now: 30 });
    assert.ok(after.phase.at === 'asking');
    return { after, replaces: after.phase.replaces };
  };
  const amount = Number(REQUEST.amount);
  const open = canceling({ intent: intent({ amount }) });
  const left = next(till(open), { type: 'leave', now: 20 });
  assert.deepEqual(charge(left).replaces, { id: INTENT.id });
  assert.equal(charge(left, 1n).replaces, null);
  const back = (one: Till) => next(one, { type: 'cancel', now: 40 });
  assert.deepEqual(charge(back(charge(left).after)).replaces, { id: INTENT.id }, 'asked again');
  assert.equal(charge(back(charge(left, 1n).after)).replaces, null, 'another customer was next');
  const stored = { type: 'accepted', request: REQUEST, slip: SLIP, now: 40 } as const;
  const sold = next(next(charge(left).after, stored), { type: 'again', now: 50 });
  assert.equal(charge(sold).replaces, null, 'it was replaced already');
  assert.equal(charge(next(left, { type: 'left_settled', id: INTENT.id, now: 25 })).replaces, null);

  const create = { ...CREATE, amount: REQUEST.amount };
  const stopped = next(till(creating({ create, sends: 1 })), { type: 'gave_up', now: 20 });
  assert.deepEqual(charge(stopped).replaces, { create });
  const result = next(stopped, { type: 'orphan_settled', id: 'pi_9', now: 25 });
  assert.deepEqual(result.left, ['pi_9'], 'it must be canceled, or shown if it was paid');
  assert.deepEqual(charge(result).replaces, { create });
  assert.equal(charge(next(result, { type: 'left_settled', id: 'pi_9', now: 28 })).replaces, null);
  assert.equal(charge(next(stopped, { type: 'orphan_settled', id: null, now: 25 })).replaces, null);
});

test('a part of a bill in the shop’s currency counts its price when it is accepted offline', () => {
  const split = { group: 'g', currency: 'eur', total: 500n, paid: 0n, parts: [], paidParts: 0 };
  const price = { currency: 'eur', amount: 228 };
  const asking = till({ at: 'asking', request: REQUEST, lines: null, price, since: 0 }, { split });
  const first = next(asking, { type: 'accepted', request: REQUEST, slip: SLIP, now: 20 });
  assert.equal(first.split?.paid, 228n);
  assert.equal(first.typed, '2.72');
});

test('a part of a bill that is accepted offline counts once', () => {
  const split = {
    group: 'g',
    currency: null,
    total: 5_000_000n,
    paid: 0n,
    parts: [2_500_000n, 2_500_000n],
    paidParts: 0,
  };
  const asking = till(
    { at: 'asking', request: REQUEST, lines: null, since: 0 },
    { split, typed: '2.50' },
  );
  const stored = { type: 'accepted', request: REQUEST, slip: SLIP } as const;
  const first = next(asking, { ...stored, now: 20 });
  assert.equal(first.split?.paid, 2_500_000n);
  const again = next(first, { type: 'again', now: 30 });
  assert.equal(again.typed, '2.50');
  assert.equal(again.split?.paid, 2_500_000n);
});

const LINE = { name: 'Tea', quantity: 1, unit_amount: 228, tax_rate: 700, tax_inclusive: true };
const CART: Cart = {
  currency: 'eur',
  lines: [{ ...LINE, item: 'item_1', discount: 0 }],
  discount: 0,
};
const TYPED: SaleLines = { lineItems: [{ ...LINE, name: 'Amount', discount: 0 }], discount: 0 };
const ofLines = ({ lineItems }: SaleLines) => lineItems as unknown as Intent['line_items'];

test('a paid cart is emptied, but not by a typed sum with a tax rate, online and offline', () => {
  const split = { group: 'g', currency: 'eur', total: 500n, paid: 0n, parts: [], paidParts: 0 };
  const cartLines = { lineItems: CART.lines, discount: 0 };
  for (const [lines, isCart] of [
    [cartLines, true],
    [TYPED, false],
  ] as const) {
    const price = { currency: 'eur', amount: 228 };
    const more = { cart: CART, split, typed: '2.28' };
    const asking = till({ at: 'asking', request: REQUEST, lines, price, since: 0 }, more);
    const offline = next(asking, { type: 'accepted', request: REQUEST, slip: SLIP, now: 20 });
    const presentment = { ...price, rate: '1' } as Intent['presentment'];
    const split_group = isCart ? null : 'g';
    const paid = {
      status: 'succeeded',
      line_items: ofLines(lines),
      presentment,
      split_group,
    } as const;
    const online = next(till(open({ intent: intent(paid) }), more), seen(paid));
    for (const after of [offline, online]) {
      assert.equal(after.cart, isCart ? null : CART);
      assert.equal(after.split?.paid, isCart ? 0n : 228n, 'only a typed sum is a part of the bill');
    }
  }
});

const ANSWERS: readonly Answer<Intent>[] = [
  UNKNOWN,
  NOT_SENT,
  done(),
  done({ status: 'processing' }),
  done({ status: 'requires_action' }),
  done({ last_payment_error: DECLINE }),
  refused('service_unavailable', 503),
  refused('internal_error', 500),
  refused('idempotency_request_in_progress'),
];

test('after a tap of unknown outcome, no sequence of events leads to another tap or charge', () => {
  const event = fc.oneof(
    fc.constantFrom<TillEvent>(
      { type: 'cancel', now: 30 },
      { type: 'again', now: 30 },
      { type: 'gave_up', now: 30 },
      { type: 'tap_sent', now: 30 },
      { type: 'charge', create: { ...CREATE, key: 'create 2' }, now: 30 },
      { type: 'tap', tap: { ...TAP, key: 'tap 2' }, now: 30 },
      { type: 'found', intent: intent({ id: 'pi_2' }), now: 30 },
      { type: 'tip', tip: 0n, now: 30 },
    ),
    fc.constantFrom<Answer<Intent>>(UNKNOWN, NOT_SENT, ...ANSWERS.slice(6)).map(answered),
    fc
      .constantFrom<Partial<Intent>>(
        {},
        { status: 'processing' },
        { status: 'requires_action' },
        { last_payment_error: DECLINE },
      )
      .map((part) => seen(part, 25)),
  );
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), (events) => {
      // After two sends, the response to the second says nothing about the first.
      const after = events.reduce(next, till(tapping({ sends: 2 })));
      assert.ok(after.phase.at === 'tapping', after.phase.at);
      assert.equal(after.phase.tap.key, TAP.key);
    }),
  );
});
