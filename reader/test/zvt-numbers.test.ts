import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readFields } from '../src/zvt/zvt-frames.ts';
import {
  ABORTED,
  ACK,
  ASK,
  authorization,
  DOUBT,
  decodeText,
  frameOf,
  NOT_POSSIBLE,
  PAID,
  PAID_RESULT,
  REFUND,
  RETURNED,
  registered,
  selling,
  type Talk,
} from './zvt-talk.ts';

function textOf(result = ''): string {
  const fields = readFields(frameOf(result).data);
  assert.ok(fields.status === 'read', result);
  return decodeText(fields.values.get(0x3c) ?? new Uint8Array(), 'cp437');
}

test('an equal amount within 120 s of a paid sale gets a text, then is a sale', () => {
  for (const [ms, sales] of [[0, 1] as const, [119_000, 1] as const, [121_000, 2] as const]) {
    const talk = selling();
    talk.news(PAID);
    talk.observe({ type: 'cut' }).connect();
    talk.now += ms;
    const [, refusal] = talk.says(authorization(1250));
    assert.equal(talk.sold.length, sales);
    if (sales === 2) continue;
    assert.match(
      textOf(refusal),
      /^paid at .*:00:00, receipt 0017; repeat the receipt for a copy, or/,
    );
    assert.deepEqual(talk.acknowledges(), [NOT_POSSIBLE]);
    talk.acknowledges();
    talk.now += 59_000;
    assert.deepEqual(talk.says(authorization(1250)), [ACK]);
    assert.equal(talk.sold.length, 2, 'the cashier started again');
  }
  const slow = selling();
  slow.news(PAID);
  slow.observe({ type: 'cut' }).connect();
  slow.says(authorization(1250));
  slow.acknowledgesTwice();
  slow.now += 61_000;
  assert.match(slow.says(authorization(1250))[1] ?? '', DOUBT, 'too late to be the same cashier');
  const other = selling();
  other.news(PAID);
  other.observe({ type: 'cut' }).connect();
  other.says(authorization(1251));
  assert.equal(other.sold.length, 2, 'another amount is another sale');
});

test('a result that the register acknowledged is named to the next equal request, too', () => {
  const talk = selling();
  talk.news(PAID);
  talk.acknowledgesTwice();
  talk.now += 100_000;
  assert.match(talk.says(authorization(1250))[1] ?? '', DOUBT);
  talk.acknowledgesTwice();
  assert.deepEqual(talk.says(authorization(1250)), [ACK]);
  assert.equal(talk.sold.length, 2);
});

test('a payment after the register had gone is named to the next equal request', () => {
  const talk = selling();
  talk.observe({ type: 'cut' });
  assert.equal(talk.did('cancel'), 1);
  talk.news(PAID);
  talk.connect();
  assert.match(talk.says(authorization(1250))[1] ?? '', DOUBT);
  assert.equal(talk.sold.length, 1);
});

test('only the register’s own number makes the key of a sale', () => {
  const talk = registered();
  talk.says(authorization(1250, '0117'));
  talk.news(PAID);
  talk.acknowledgesTwice();
  assert.match(talk.says(authorization(1250, '0117'))[1] ?? '', PAID_RESULT);
  assert.equal(talk.sold.length, 1);
  talk.acknowledgesTwice();
  assert.match(talk.says(authorization(1300, '0117'))[1] ?? '', DOUBT, 'another amount');
  talk.acknowledgesTwice();
  talk.says(authorization(1250, '0118'));
  const other = registered();
  other.says(authorization(1250, '0117'));
  assert.equal(other.sold[0], talk.sold[0]);
  assert.equal(new Set(talk.sold).size, 2);
});

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** Sells with this number of the register, and acknowledges the result. */
function sellNumbered(talk: Talk, number: string, cents = 1250): void {
  talk.says(authorization(cents, number));
  assert.ok(PAID.status === 'paid');
  const at = new Date(talk.now).toISOString();
  talk.news({ ...PAID, paid: { ...PAID.paid, at, receipt: 16 + Number(number) } });
  talk.acknowledgesTwice();
}

/** Asks for 12.50 EUR with this number. @returns what came of it. */
function askNumbered(talk: Talk, number: string): 'same' | 'new' | 'doubt' {
  const [, answer] = talk.says(authorization(1250, number));
  if (answer === undefined) {
    talk.news({ status: 'not_paid', code: 0x6c });
    talk.acknowledgesTwice();
    return 'new';
  }
  talk.acknowledgesTwice();
  if (PAID_RESULT.test(answer)) return 'same';
  assert.match(answer, DOUBT);
  return 'doubt';
}

function endOfDay(talk: Talk): void {
  talk.says(ASK.endOfDay);
  const numbers = { count: 1, firstReceipt: 17, lastReceipt: 17, lines: [] };
  const at = new Date(talk.now).toISOString();
  const closes = { created: at, payment: 'pay_1', at };
  const money = { amount: 1250, currency: 978 };
  talk.observe({ type: 'totals', totals: { closes, money, ...numbers } });
  talk.acknowledgesTwice();
}

test('a number is the same sale within ten minutes, with the same sum and no sale between', () => {
  // 23:55 by the clock of the shop: midnight changes nothing.
  const late = new Date(2026, 10, 28, 23, 55).getTime();
  for (const [ms, expected] of [
    [0, 'same'] as const,
    [50_000, 'same'] as const,
    [9 * MINUTE_MS, 'same'] as const,
    [11 * MINUTE_MS, 'doubt'] as const,
    [30 * HOUR_MS, 'doubt'] as const,
  ]) {
    const talk = registered();
    talk.now = late;
    sellNumbered(talk, '0001');
    talk.now += ms;
    assert.equal(askNumbered(talk, '0001'), expected, `${ms} ms later`);
  }
});

test('a number behind another sale or with another sum is new only when asked for again', () => {
  const behind = registered();
  sellNumbered(behind, '0001');
  behind.now += 1_000;
  sellNumbered(behind, '0002', 1300);
  const [, answer] = behind.says(authorization(1250, '0001'));
  assert.match(textOf(answer), /^paid at .*receipt 0017; start again for a new sale$/);
  behind.acknowledgesTwice();
  behind.now += 59_000;
  assert.equal(askNumbered(behind, '0001'), 'new');
  const sum = registered();
  sellNumbered(sum, '0001', 1300);
  assert.equal(askNumbered(sum, '0001'), 'doubt');
  sum.now += 61_000;
  assert.equal(askNumbered(sum, '0001'), 'doubt', 'a minute has passed');
  assert.equal(askNumbered(sum, '0002'), 'new');
  assert.equal(new Set(sum.sold).size, sum.sold.length);
});

test('a number is free after an end of day, or after 12 hours and other sales', () => {
  const closed = registered();
  sellNumbered(closed, '0001');
  endOfDay(closed);
  assert.equal(askNumbered(closed, '0001'), 'new');
  const alone = registered();
  sellNumbered(alone, '0001');
  alone.now += 15 * HOUR_MS;
  assert.equal(askNumbered(alone, '0001'), 'doubt', 'no other sale');
  const before = registered();
  sellNumbered(before, '0001');
  sellNumbered(before, '0002');
  const restarted = registered(before.state.stored);
  restarted.now = before.now + 11 * HOUR_MS;
  assert.equal(askNumbered(restarted, '0001'), 'doubt');
  restarted.now = before.now + 15 * HOUR_MS;
  assert.equal(askNumbered(restarted, '0001'), 'new');
  const keys = [...before.sold, ...restarted.sold, ...closed.sold.slice(1)];
  assert.equal(new Set(keys).size, keys.length, 'each sale has its own key');
});

test('a number whose earlier sale only the network knows is doubted, then a new sale', () => {
  const talk = registered();
  talk.says(authorization(1250, '0001'));
  assert.ok(PAID.status === 'paid');
  assert.match(talk.news({ status: 'paid_before', paid: PAID.paid })[0] ?? '', DOUBT);
  talk.acknowledgesTwice();
  assert.deepEqual(talk.says(authorization(1250, '0001')), [ACK]);
  assert.equal(new Set(talk.sold).size, 2);
  talk.news({ status: 'not_paid', code: 0x6c });
});

test('a numbered sale that was not paid can be paid with the same number', () => {
  const talk = registered();
  talk.says(authorization(1250, '0117'));
  talk.news({ status: 'not_paid', code: 0x6c });
  talk.acknowledgesTwice();
  assert.deepEqual(talk.says(authorization(1250, '0117')), [ACK]);
  assert.match(talk.news(PAID)[0] ?? '', PAID_RESULT);
  assert.equal(new Set(talk.sold).size, 2);
  talk.acknowledgesTwice();
  assert.match(talk.says(authorization(1250, '0117'))[1] ?? '', PAID_RESULT);
  assert.equal(talk.sold.length, 2);
});

test('a number whose earlier sales the reader forgot finds the one that is paid', () => {
  const talk = registered();
  talk.says(authorization(1250, '0117'));
  const before = talk.sold[0];
  talk.news({ status: 'canceled_before' });
  assert.deepEqual(talk.lastTypes, ['save', 'sell']);
  assert.notEqual(talk.sold[1], before);
  talk.observe({ type: 'cut' });
  talk.news({ status: 'canceled_before' });
  assert.deepEqual(talk.lastTypes, ['save', 'sell', 'cancel'], 'its register has gone');
  talk.connect();
  talk.says(authorization(1250, '0117'));
  assert.match(talk.news(PAID)[0] ?? '', PAID_RESULT);
});

test('a numbered sale that was reversed is never reported as paid', () => {
  const talk = registered();
  talk.says(authorization(1250, '0117'));
  talk.news(PAID);
  talk.says(ASK.reverseLast);
  talk.returned(RETURNED);
  talk.acknowledgesTwice();
  talk.says(REFUND);
  talk.returned({ status: 'refused', code: 0x83 });
  talk.acknowledgesTwice();
  assert.deepEqual(talk.says(authorization(1250, '0117')), [ACK, ABORTED]);
  assert.equal(talk.sold.length, 1);
});
