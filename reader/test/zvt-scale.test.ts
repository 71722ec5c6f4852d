import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromRegister, type Scales, scaleOf, toRegister } from '../src/zvt/price-of-amount.ts';
import { ACK, ASK, authorization, NOT_POSSIBLE, PAID, RETURNED, Talk } from './zvt-talk.ts';

/** Registers in a currency, at a reader that knows the register's scale. */
function registeredIn(currency: string, scales: Scales = {}): Talk {
  const talk = new Talk(undefined, { scales }).connect();
  talk.says(`060006${'00'.repeat(4)}${currency}`);
  talk.acknowledges();
  return talk;
}

const YEN = '0392';

test('yen are refused with a text until the scale of the register is known', () => {
  const talk = registeredIn(YEN);
  const [ack, refusal] = talk.says(authorization(50_000));
  assert.equal(ack, ACK);
  assert.match(refusal ?? '', /^040f..276f/);
  const words = Buffer.from('JPY: set --zvt-scale', 'latin1').toString('hex');
  assert.ok(refusal?.includes(words), refusal);
  assert.deepEqual(talk.acknowledges(), ['061e046f490392']);
  talk.acknowledges();
  talk.says('06010a' + '04000000050000' + '490978');
  assert.equal(talk.sold.length, 1, 'euros are always hundredths');
});

test('an amount is asked, reported and refunded in the scale of the register', () => {
  for (const [scale, sent] of [[2, 50_000] as const, [0, 500] as const]) {
    const talk = registeredIn(YEN, { jpy: scale });
    talk.says(authorization(sent));
    assert.equal(talk.state.stored.sale?.amount, 500);
    const amount = String(sent).padStart(12, '0');
    assert.ok(talk.news(PAID)[0]?.includes(`270004${amount}`));
    talk.acknowledgesTwice();
    talk.says(`06310d00000004${amount}870042`);
    assert.equal(talk.refunds[0]?.money?.amount, 500);
    assert.ok(RETURNED.status === 'done');
    const money = { amount: 500, currency: 392 };
    const [returned] = talk.returned({ ...RETURNED, done: { ...RETURNED.done, money } });
    assert.ok(returned?.includes(`270004${amount}`), returned);
    talk.acknowledgesTwice();
    talk.says(`06300d00000087001704${amount}`);
    assert.notDeepEqual(talk.sent().at(-1), NOT_POSSIBLE, 'the price of the sale');
    assert.equal(talk.refunds.length, 2);
  }
  const odd = registeredIn(YEN, { jpy: 2 });
  assert.deepEqual(odd.says(authorization(50_050)), ['848300'], 'there is no half yen');
  odd.says(ASK.abort);
  assert.equal(odd.sold.length, 0);
});

test('each doubtful currency has a scale only if one is set, for all or for itself', () => {
  for (const currency of [392, 410, 348, 414, 48, 152, 352, 400, 512, 788, 170, 360]) {
    assert.equal(scaleOf(currency, {}), null);
    assert.equal(scaleOf(currency, { all: 0 }), 0);
  }
  assert.equal(scaleOf(348, { all: 0, huf: 2 }), 2);
  for (const currency of [978, 840, 756, 826, 985]) assert.equal(scaleOf(currency, {}), 2);
  const both = (amount: number, currency: number, scale: number) => {
    const minor = fromRegister({ amount, currency }, { all: scale });
    assert.equal(toRegister({ amount: minor ?? 0, currency }, { all: scale }), amount);
    return minor;
  };
  assert.deepEqual([both(500, 348, 0), both(50_000, 348, 2)], [50_000, 50_000]);
  assert.deepEqual([both(1_250, 414, 2), both(12_500, 414, 3)], [12_500, 12_500]);
});
