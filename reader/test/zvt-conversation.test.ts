import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Effect } from '../src/zvt/conversation-state.ts';
import { isUnknownRefund, isUnknownSale, type Stored } from '../src/zvt/stored-results.ts';
import { frameBytes } from '../src/zvt/zvt-frames.ts';
import {
  ABORTED,
  ABORTED_RESULT,
  ACCEPTED,
  ACK,
  ASK,
  authorization,
  BUSY,
  COMPLETED,
  DOUBT,
  frameOf,
  NOT_POSSIBLE,
  PAID,
  PAID_RESULT,
  REFUND,
  REQUESTED,
  RETURNED,
  registered,
  SYSTEM_ERROR,
  selling,
  Talk,
} from './zvt-talk.ts';

test('a registration is answered with status, terminal number and currency', () => {
  const talk = new Talk().connect();
  assert.deepEqual(talk.says(ASK.register), [ACK, '060f0a190029123456784909' + '78']);
  assert.deepEqual(talk.acknowledges(), []);
  assert.equal(talk.state.phase.status, 'idle');
  assert.deepEqual(talk.says('060006000000000999'), [ACK, '061e046f490978']);
});

test('a sale: stored, acknowledged, started; then its result, then the completion', () => {
  const talk = registered();
  talk.says(authorization(1250));
  assert.deepEqual(talk.lastTypes, ['save', 'send', 'sell']);
  talk.news({ status: 'open', intent: 'pi_1' });
  const [result, ...others] = talk.news(PAID);
  assert.match(result ?? '', PAID_RESULT);
  assert.deepEqual(others, []);
  assert.deepEqual(talk.lastTypes, ['save', 'save', 'send']);
  assert.deepEqual(talk.acknowledges(), [COMPLETED]);
  assert.deepEqual(talk.acknowledges(), []);
  assert.equal(talk.state.phase.status, 'idle');
  assert.equal(
    talk.state.stored.sale?.status === 'paid' && talk.state.stored.sale.delivery,
    'acknowledged',
  );
});

test('a register that wants it gets intermediate status, and again each 5 s', () => {
  const talk = selling(ASK.register);
  assert.deepEqual(talk.after(200), ['04ff010a']);
  assert.deepEqual(talk.after(200), [], 'not before it is acknowledged');
  talk.acknowledges();
  assert.deepEqual(talk.after(4_000), []);
  assert.deepEqual(talk.after(1_000), ['04ff010a']);
  talk.acknowledges();
  talk.news({ status: 'processing' });
  assert.deepEqual(talk.after(200), ['04ff0104'], 'a change is shown at once');
  const plain = selling();
  assert.deepEqual(plain.after(60_000), []);
});

test('the receipt is printed at the register, line by line, before the completion', () => {
  const talk = selling(ASK.register);
  talk.news(PAID);
  assert.deepEqual(talk.acknowledges(), []);
  const request = talk.last.find(({ type }) => type === 'receipt');
  assert.ok(request?.type === 'receipt' && request.width === 32);
  talk.observe({ type: 'receipt', lines: ['Café', 'Total'] });
  assert.deepEqual(talk.sent(), ['06d10500436166' + '82']);
  assert.deepEqual(talk.acknowledges(), ['06d10681546f74616c']);
  assert.deepEqual(talk.acknowledges(), [COMPLETED]);
  const without = selling(ASK.register);
  without.news(PAID);
  without.acknowledges();
  without.observe({ type: 'receipt', lines: null });
  assert.deepEqual(without.sent(), [COMPLETED], 'a sale is complete without its receipt');
});

test('while a result is unknown, only intermediate status is sent, then the system error', () => {
  for (const status of ['processing', 'unreachable'] as const) {
    const talk = selling(ASK.register);
    talk.news({ status });
    const sent: string[] = [];
    for (let second = 0; second < 181 && talk.state.phase.status === 'selling'; second++) {
      sent.push(...talk.after(1_000));
      talk.acknowledges();
    }
    const last = sent.pop();
    assert.equal(last, SYSTEM_ERROR);
    assert.ok(sent.length > 30 && sent.every((frame) => frame.startsWith('04ff01')));
    assert.ok(isUnknownSale(talk.state.stored.sale));
    assert.equal(talk.did('cancel'), 1, 'an unpaid sale must not be paid later');
  }
});

test('the system error comes 5 s before the time-out, which counts from the command', () => {
  const talk = selling();
  talk.after(174_000);
  assert.equal(talk.state.phase.status, 'selling');
  assert.deepEqual(talk.after(1_000), [SYSTEM_ERROR]);
});

test('after a system error, "repeat receipt" tells the truth as soon as it is known', () => {
  const talk = selling();
  talk.news({ status: 'processing' });
  talk.after(180_000);
  talk.acknowledges();
  assert.deepEqual(talk.says(ASK.repeatReceipt), [ACK]);
  assert.equal(talk.state.phase.status, 'earlier');
  const [result] = talk.news(PAID);
  assert.match(result ?? '', PAID_RESULT);
  assert.deepEqual(talk.acknowledges(), [COMPLETED]);
  talk.acknowledges();
  assert.match(
    talk.says(ASK.repeatReceipt)[1] ?? '',
    PAID_RESULT,
    'each repeated request gets the receipt again',
  );
});

test('after a system error, a sale waits for the result: paid, it is that sale', () => {
  const talk = selling();
  talk.news({ status: 'processing' });
  talk.after(180_000);
  talk.acknowledges();
  talk.says(authorization(1250));
  assert.match(talk.news(PAID)[0] ?? '', DOUBT);
  talk.acknowledgesTwice();
  talk.says(ASK.repeatReceipt);
  talk.acknowledgesTwice();
  assert.equal(talk.sold.length, 1);
  talk.says(authorization(1250));
  assert.equal(talk.sold.length, 2, 'the cashier started again');
});

test('after a system error, a sale waits for the result: not paid, it is a new sale', () => {
  const talk = selling();
  talk.news({ status: 'unreachable' });
  talk.after(180_000);
  talk.acknowledges();
  talk.says(authorization(1250));
  assert.equal(talk.sold.length, 1);
  talk.news({ status: 'not_paid', code: 0x6c });
  assert.equal(talk.sold.length, 2);
  assert.equal(new Set(talk.sold).size, 2);
});

test('an unpaid sale ends with its connection, and the next request is a new sale', () => {
  const talk = selling();
  talk.observe({ type: 'cut' });
  talk.news({ status: 'not_paid', code: 0x6c });
  talk.connect();
  assert.deepEqual(talk.says(authorization(1250)), [ACK]);
  assert.equal(talk.sold.length, 2);
});

test('abort by the register cancels an unpaid sale; a paid one is still reported', () => {
  const talk = selling();
  assert.deepEqual(talk.says(ASK.abort), [ACK]);
  assert.equal(talk.did('cancel'), 1);
  assert.match(talk.news({ status: 'not_paid', code: 0x6c })[0] ?? '', ABORTED_RESULT);
  assert.deepEqual(talk.acknowledges(), [ABORTED]);
  const late = selling();
  late.says(ASK.abort);
  assert.match(late.news(PAID)[0] ?? '', PAID_RESULT);
});

test('abort by the customer ends with the result for an abort, and no other', () => {
  const talk = selling();
  assert.match(talk.news({ status: 'not_paid', code: 0x6c })[0] ?? '', ABORTED_RESULT);
  assert.deepEqual(talk.acknowledges(), [ABORTED]);
  talk.acknowledges();
  assert.match(talk.says(ASK.repeatReceipt)[1] ?? '', ABORTED_RESULT);
  assert.deepEqual(talk.acknowledges(), [COMPLETED]);
});

test('a command during a sale is answered "please wait" and changes nothing', () => {
  const talk = selling();
  for (const ask of [authorization(1250), ASK.reverseLast, ASK.endOfDay, ASK.logOff]) {
    assert.deepEqual(talk.says(ask), [BUSY]);
  }
  assert.equal(talk.sold.length, 1);
});

test('a result that the register asks for again is repeated after 2 s', () => {
  const talk = selling();
  const [result] = talk.news(PAID);
  assert.deepEqual(talk.says(ASK.repeatResult), []);
  assert.deepEqual(talk.after(1_000), []);
  assert.deepEqual(talk.after(1_000), [result]);
  assert.deepEqual(talk.acknowledges(), [COMPLETED]);
});

test('goods that were not issued: the sale is returned, and the payment is aborted', () => {
  const talk = selling();
  talk.news(PAID);
  talk.says(ASK.goodsNotIssued);
  assert.equal(talk.did('refund'), 1);
  assert.deepEqual(talk.returned(RETURNED), [ABORTED]);
  talk.acknowledges();
  talk.says(authorization(1250));
  assert.equal(talk.sold.length, 2, 'the returned sale counts as paid no more');
  const failed = selling();
  failed.news(PAID);
  failed.says(ASK.goodsNotIssued);
  assert.deepEqual(failed.returned({ status: 'refused', code: 0x83 }), [SYSTEM_ERROR]);
});

test('a reversal returns the last sale once, also if the register asks again', () => {
  const talk = selling();
  talk.news(PAID);
  talk.observe({ type: 'cut' }).connect();
  talk.says(ASK.reverseLast);
  talk.observe({ type: 'cut' }).connect();
  talk.returned(RETURNED);
  assert.match(talk.says(ASK.reverseLast)[1] ?? '', PAID_RESULT, 'it did not get the result');
  talk.acknowledgesTwice();
  assert.deepEqual(talk.says(ASK.reverseLast), [ACK, NOT_POSSIBLE], 'it is reversed');
  talk.acknowledges();
  assert.equal(talk.did('refund'), 1);
  talk.says(authorization(1250));
  assert.equal(talk.sold.length, 2, 'a returned sale is never repeated as paid');
});

test('a reversal that failed may be asked for again, with a key of its own', () => {
  const talk = selling();
  talk.news(PAID);
  talk.says(ASK.reverseLast);
  talk.returned({ status: 'refused', code: 0x83 });
  talk.acknowledgesTwice();
  talk.says(ASK.reverseLast);
  assert.equal(new Set(talk.refunds.map(({ key }) => key)).size, 2);
  assert.match(talk.returned(RETURNED)[0] ?? '', PAID_RESULT);
});

test('a refund is stored before each of its steps, and a restart continues with the step', () => {
  const talk = selling();
  talk.news(PAID);
  talk.says(REFUND);
  talk.returned(REQUESTED);
  assert.deepEqual(talk.lastTypes, ['save', 'refund']);
  const requested = new Talk(talk.state.stored);
  assert.deepEqual(requested.refunds, talk.refunds.slice(-1));
  assert.equal(requested.refunds[0]?.status, 'requested');
  talk.returned(ACCEPTED);
  assert.equal(talk.refunds.at(-1)?.status, 'accepted');
  const accepted = new Talk(talk.state.stored).connect();
  accepted.returned(REQUESTED);
  assert.equal(accepted.state.stored.refund?.status, 'accepted', 'it is never requested again');
  accepted.says(ASK.repeatReceipt);
  assert.equal(accepted.state.phase.status, 'earlier', 'no result before the money is back');
  assert.match(accepted.returned(RETURNED)[0] ?? '', PAID_RESULT);
});

test('goods that were not issued never replace a refund whose result is unknown', () => {
  const talk = selling();
  talk.news(PAID);
  talk.says(REFUND);
  talk.observe({ type: 'cut' }).connect();
  talk.says(authorization(1300));
  talk.news(PAID);
  assert.deepEqual(talk.says(ASK.goodsNotIssued), [SYSTEM_ERROR]);
  assert.equal(talk.did('refund'), 1);
  assert.equal(talk.state.stored.refund?.status, 'asked');
});

test('a reversal by receipt number keeps the amount, which must be that of the sale', () => {
  const talk = registered();
  talk.says('06300d000000870017' + '04000000000500');
  const [refund] = talk.refunds;
  assert.deepEqual(refund?.of, { receipt: 17, price: 500 });
  assert.equal(refund?.money, null);
});

test('a currency that may be behind an unknown field must be the registration’s', () => {
  const talk = registered();
  const asking = (rest: string) =>
    `0601${(7 + rest.length / 2).toString(16).padStart(2, '0')}04000000001250${rest}`;
  assert.deepEqual(talk.says(asking('77490840')), [ACK, '061e046f490978']);
  talk.acknowledges();
  assert.deepEqual(talk.says(asking('7749097812')), [ACK]);
  assert.equal(talk.sold.length, 1);
});

test('a refused registration and a log-off change no currency', () => {
  const talk = registered(undefined, '060006000000080756');
  const francs = '061e046f490756';
  assert.deepEqual(talk.says('060006000000000999'), [ACK, francs]);
  talk.acknowledges();
  assert.equal(talk.state.stored.register.currency, 756);
  assert.equal(talk.state.stored.register.wantsStatus, true);
  talk.says(ASK.logOff);
  assert.equal(talk.state.stored.register.currency, 756);
});

test('a reversal of another amount and a refund without a receipt move nothing', () => {
  const talk = selling();
  talk.news(PAID);
  talk.acknowledgesTwice();
  const wrong = [
    '06300d000000870017' + '04000000009999',
    '06310a00000004000000000500',
    '063007000000870017' + '99',
  ];
  for (const ask of wrong) talk.says(ask);
  assert.equal(talk.did('refund'), 0);
  talk.says(REFUND);
  assert.equal(talk.did('refund'), 1);
});

test('the end of day is closed only when the register has acknowledged its totals', () => {
  const talk = registered(undefined, ASK.register);
  talk.says(ASK.endOfDay);
  const money = { amount: 2500, currency: 978 };
  const numbers = { count: 2, firstReceipt: 16, lastReceipt: 17 };
  const created = '2026-11-28T19:59:59.000Z';
  const closes = { created, payment: 'pay_2', at: '2026-11-28T20:00:00.000Z' };
  const totals = { closes, money, ...numbers, lines: ['TOTAL'] };
  talk.observe({ type: 'totals', totals });
  assert.match(talk.sent()[0] ?? '', /60f0f5f300160017(00000000000000){6}02000000002500/);
  assert.equal(talk.state.stored.closed, null);
  assert.deepEqual(talk.acknowledges(), ['06d10681544f54414c']);
  assert.deepEqual(talk.state.stored.closed, closes, 'what was read, not the time of the answer');
  assert.deepEqual(talk.acknowledges(), [COMPLETED]);
});

test('diagnosis, status enquiry, initialisation and log-off are answered', () => {
  const talk = registered(undefined, ASK.register);
  assert.deepEqual(talk.says(ASK.statusEnquiry), [ACK, '060f0100']);
  talk.acknowledges();
  assert.deepEqual(talk.says('069303000000'), [ACK, COMPLETED]);
  talk.acknowledges();
  for (const [isReached, end] of [[true, COMPLETED] as const, [false, '061e019b'] as const]) {
    assert.deepEqual(talk.says(ASK.diagnosis), [ACK]);
    talk.observe({ type: 'line', isReached });
    assert.deepEqual(talk.sent(), [end]);
    talk.acknowledges();
  }
  assert.deepEqual(talk.says(ASK.logOff), [ACK]);
  assert.equal(talk.state.stored.register.wantsStatus, false);
  assert.deepEqual(talk.says('06c000'), ['848300'], 'a command that this terminal does not have');
});

test('a register that does not acknowledge is disconnected', () => {
  const talk = selling();
  talk.news(PAID);
  talk.after(11_000);
  assert.equal(talk.did('hang_up'), 1);
  assert.equal(
    talk.state.stored.sale?.status === 'paid' && talk.state.stored.sale.delivery,
    'sent',
  );
});

test('after a restart an unknown sale is looked up and canceled, a known one is stored', () => {
  const before = selling();
  const restarted = new Talk(before.state.stored);
  assert.deepEqual(
    restarted.effects.map(({ type }) => type),
    ['sell', 'cancel'],
  );
  assert.equal(restarted.sold[0], before.sold[0]);
  before.news(PAID);
  assert.equal(new Talk(before.state.stored).effects.length, 0);
  const known = registered(before.state.stored);
  assert.match(known.says(authorization(1250))[1] ?? '', DOUBT);
});

/** Events at a register and its network that may come in any order. */
const EVENTS = [
  ...Object.values(ASK).map((ask) => (talk: Talk) => talk.says(ask)),
  ...[1250, 1300].map((cents) => (talk: Talk) => talk.says(authorization(cents))),
  (talk: Talk) => talk.says(authorization(1250, '0117')),
  (talk: Talk) => talk.acknowledges(),
  (talk: Talk) => talk.connect(),
  (talk: Talk) => talk.connect('192.168.1.7'),
  (talk: Talk) => talk.observe({ type: 'cut' }),
  (talk: Talk) => talk.after(1_000),
  (talk: Talk) => talk.after(60_000),
  (talk: Talk) => void (talk.state.stored.sale && talk.news({ status: 'open', intent: 'pi_1' })),
  (talk: Talk) => void (talk.state.stored.sale && talk.news({ status: 'processing' })),
  (talk: Talk) => void (talk.state.stored.sale && talk.news(PAID)),
  (talk: Talk) => void (talk.state.stored.sale && talk.news({ status: 'not_paid', code: 0x6c })),
  (talk: Talk) => void (talk.state.stored.sale && talk.news({ status: 'canceled_before' })),
  (talk: Talk) => void (talk.state.stored.refund && talk.returned(REQUESTED)),
  (talk: Talk) => void (talk.state.stored.refund && talk.returned(ACCEPTED)),
  (talk: Talk) => void (talk.state.stored.refund && talk.returned(RETURNED)),
] as const;

/**
 * Checks the money rules for the effects of one step.
 * @returns what is stored on the disk after it.
 */
function checkStep(effects: readonly Effect[], disk: Stored | null): Stored | null {
  let stored = disk;
  for (const effect of effects) {
    if (effect.type === 'save') {
      const wasUnknown = isUnknownSale(stored?.sale ?? null);
      assert.ok(
        !wasUnknown || effect.stored.sale?.trace === stored?.sale?.trace,
        'a sale was forgotten',
      );
      const isRefunding = isUnknownRefund(stored?.refund ?? null);
      assert.ok(
        !isRefunding || effect.stored.refund?.key === stored?.refund?.key,
        'a refund was forgotten',
      );
      stored = effect.stored;
    }
    if (effect.type === 'sell')
      assert.deepEqual(stored?.sale, effect.sale, 'sold before it is stored');
    if (effect.type === 'refund') assert.deepEqual(stored?.refund, effect.refund);
    if (effect.type !== 'send' || effect.frame.control !== 0x040f) continue;
    assert.ok(!isUnknownSale(stored?.sale ?? null), 'a result was reported while one is unknown');
    if (effect.frame.data[1] !== 0) continue;
    const known = [stored?.sale, stored?.refund];
    const isStored = known.some((one) => one?.status === 'paid' || one?.status === 'done');
    assert.ok(
      isStored,
      `reported, not stored: ${Buffer.from(frameBytes(effect.frame)).toString('hex')}`,
    );
  }
  return stored;
}

test('in any order of events: stored before sold or reported, one unknown sale at a time', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(EVENTS.length - 1), { maxLength: 60 }), (order) => {
      const talk = registered();
      let disk: Stored | null = talk.state.stored;
      for (const one of order) {
        const before = talk.last;
        EVENTS[one]?.(talk);
        // Some events do nothing without a sale or refund. The effects of the step before them took
        // place only once.
        if (talk.last !== before) disk = checkStep(talk.last, disk);
        assert.deepEqual(disk?.sale ?? null, talk.state.stored.sale);
      }
    }),
    { numRuns: 3_000 },
  );
});

test('no bytes are more than one sale: 100,000 mutated frames charge and crash nothing', () => {
  const valid = [...Object.values(ASK), authorization(1250), authorization(99, '0117')];
  const random = fc.sample(fc.nat(0xff_ffff), { numRuns: 100_000, seed: 80 });
  let talk = registered();
  let authorized = 0;
  let sold = 0;
  for (const [index, number] of random.entries()) {
    const frame = frameOf(valid[index % valid.length] ?? ASK.abort);
    const bytes = Uint8Array.from([frame.control >> 8, frame.control & 0xff, ...frame.data]);
    const at = (number >> 8) % bytes.length;
    bytes[at] = number & 0xff;
    const cut = number % 7 === 0 ? bytes.subarray(0, Math.max(2, at)) : bytes;
    const control = (cut[0] ?? 0) * 256 + (cut[1] ?? 0);
    if (control === 0x0601) authorized += 1;
    talk.frame({ control, data: cut.subarray(2) });
    if (isUnknownSale(talk.state.stored.sale)) talk.news({ status: 'not_paid', code: 0x6c });
    if (index % 500 !== 499) continue;
    sold += talk.sold.length;
    talk = registered(talk.state.stored);
  }
  assert.ok(sold > 0 && sold <= authorized, `${sold} of ${authorized}`);
});
