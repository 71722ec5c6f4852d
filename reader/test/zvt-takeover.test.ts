import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  ABORTED_RESULT,
  ACK,
  ASK,
  authorization,
  BUSY,
  NOT_REGISTERED,
  PAID,
  PAID_RESULT,
  REFUND,
  selling,
  Talk,
} from './zvt-talk.ts';

/** Commands that move money. */
const STRANGE = ['06300600000087ffff', '06300600000187ffff', authorization(1250), REFUND];

test('only a peer address that has registered since the reader started moves money', () => {
  const sold = selling();
  sold.news(PAID);
  sold.acknowledgesTwice();
  for (const ask of STRANGE) {
    const restarted = new Talk(sold.state.stored).connect();
    assert.deepEqual(restarted.says(ask), [NOT_REGISTERED]);
    assert.equal(restarted.state.phase.status, 'away', 'it is turned away');
    assert.deepEqual(sold.connect('192.168.1.7').says(ask), [NOT_REGISTERED]);
    assert.deepEqual(sold.lastTypes, ['turn_away']);
  }
  assert.equal(sold.did('sell') + sold.did('refund'), 1);
  sold.observe({ type: 'cut' }).connect();
  assert.deepEqual(
    sold.says(authorization(1300)),
    [ACK],
    'on another connection than it registered',
  );
});

test('a password is checked in registration, reversal and refund', () => {
  const talk = new Talk(undefined, { password: '123456' }).connect();
  assert.deepEqual(talk.says('060006000000000978'), [NOT_REGISTERED]);
  talk.connect();
  assert.equal(talk.says('060006123456000978')[0], ACK);
  talk.acknowledges();
  talk.says(authorization(1250));
  talk.news(PAID);
  talk.acknowledgesTwice();
  for (const ask of [ASK.reverseLast, '063000', REFUND]) {
    assert.deepEqual(talk.says(ask), [NOT_REGISTERED]);
  }
  assert.equal(talk.did('refund'), 0);
  talk.says('06300612345687ffff');
  assert.equal(talk.did('refund'), 1);
});

test('while a sale waits, another connection gets "busy" and changes nothing', () => {
  const talk = selling();
  const before = talk.state;
  for (const peer of ['192.168.1.7', '127.0.0.1']) {
    const registration = peer === '127.0.0.1' ? [] : [ASK.register];
    for (const ask of [...registration, ASK.statusEnquiry, ASK.endOfDay, ASK.repeatReceipt]) {
      assert.deepEqual(talk.connect(peer).says(ask), [BUSY]);
      assert.deepEqual(talk.lastTypes, ['turn_away']);
    }
  }
  talk.connect('192.168.1.7').says(ASK.abort);
  assert.equal(talk.state, before);
  assert.match(talk.news(PAID)[0] ?? '', PAID_RESULT);
  assert.deepEqual(talk.connect('192.168.1.7').says(ASK.register), [BUSY], 'unacknowledged');
});

test('a register that opens a connection per command aborts its sale on a second one', () => {
  const talk = selling();
  assert.deepEqual(talk.connect().says(ASK.abort), [ACK]);
  assert.deepEqual(talk.lastTypes, ['cancel', 'turn_away']);
  assert.match(talk.news({ status: 'not_paid', code: 0x6c })[0] ?? '', ABORTED_RESULT);
});

test('another register may take over while none waits, and the first one comes back', () => {
  const talk = selling();
  talk.news(PAID);
  talk.acknowledgesTwice();
  assert.deepEqual(talk.connect('192.168.1.7').says(ASK.statusEnquiry), [BUSY]);
  assert.equal(talk.connect('192.168.1.7').says(ASK.register)[0], ACK);
  assert.equal(talk.lastTypes[0], 'seat');
});

/** Registers on a new connection while the sale waits on one that has not closed. */
function cameBack(): Talk {
  const talk = selling().connect();
  assert.equal(talk.says(ASK.registerPlain)[0], ACK);
  assert.equal(talk.did('cancel'), 0);
  return talk;
}

test('a registration from the same address takes over a sale, and hears its result', () => {
  const paid = cameBack();
  paid.acknowledges();
  assert.match(paid.news(PAID)[0] ?? '', PAID_RESULT, 'without asking');
  const before = cameBack();
  before.news(PAID);
  assert.match(before.acknowledges()[0] ?? '', PAID_RESULT, 'after its registration');
  const asks = cameBack();
  asks.acknowledges();
  assert.deepEqual(asks.says(authorization(1250)), [ACK]);
  assert.match(asks.news(PAID)[0] ?? '', PAID_RESULT);
  assert.equal(asks.sold.length, 1);
  const repeats = cameBack();
  repeats.acknowledges();
  assert.deepEqual(repeats.says(ASK.repeatReceipt), [ACK]);
  assert.match(repeats.news(PAID)[0] ?? '', PAID_RESULT);
  const unheard = selling();
  unheard.news(PAID);
  assert.equal(unheard.connect().says(ASK.registerPlain)[0], ACK);
  assert.match(unheard.acknowledges()[0] ?? '', PAID_RESULT, 'it was lost with the connection');
});

test('a sale whose register came back is canceled if that register does not want it', () => {
  const other = cameBack();
  other.acknowledges();
  assert.deepEqual(other.says(authorization(1300)), [ACK]);
  assert.equal(other.did('cancel'), 1);
  const aborts = cameBack();
  aborts.acknowledges();
  aborts.says(ASK.abort);
  assert.equal(aborts.did('cancel'), 1);
  const silent = cameBack();
  silent.acknowledges();
  silent.after(179_000);
  assert.equal(silent.did('cancel'), 0);
  silent.after(1_000);
  assert.equal(silent.did('cancel'), 1);
  const gone = cameBack();
  gone.observe({ type: 'cut' });
  assert.equal(gone.did('cancel'), 1);
});

test('of all frames, only a whole abort ends a sale that waits', () => {
  for (const ask of ['06b00704000000001250', '06b0020612', '06b100', '06b00149']) {
    const talk = selling();
    talk.says(ask);
    assert.equal(talk.did('cancel'), 0, ask);
  }
  const talk = selling();
  talk.says('06b0020600');
  assert.equal(talk.did('cancel'), 1);
});
