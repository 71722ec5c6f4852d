import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addMs } from '#core/clock.ts';
import { revokeAgentTokenRow } from '#payers/agent-token-queries.ts';
import { lockPayer } from '#payers/payer-queries.ts';
import type { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { waitingForLocks } from '#testkit/fixtures/core/open-transactions.ts';
import { tally } from '#testkit/fixtures/core/tally.ts';
import {
  inParallel,
  openRaceCourse,
  type RaceCourse,
} from '#testkit/fixtures/payments/race-course.ts';
import {
  addIntent,
  addPayer,
  type Counter,
  intentMaker,
  pay,
  payAndSettle,
  playChain,
  settled,
  summaryOf,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { addStore } from '#testkit/fixtures/payments/store-payments.ts';
import {
  answerAsPayer,
  limitPayer,
  mintToken,
  setRiskRules,
} from '#testkit/fixtures/payments/store-requests.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');
/** A payer's first payment of this amount requires the payer's confirmation. */
const HIGH = 50_000_000;

let course: RaceCourse;
let store: TestStore;
let clock: FakeClock;

before(async () => {
  course = await openRaceCourse(NOON);
  ({ store, clock } = course);
});
after(() => store.close());

describe('a limit that allows one payment', () => {
  /** Taps a pass for ten intents at the same time, each through another process. */
  async function tapTen(pass: string, counterOf: (index: number) => Counter) {
    const ids = await inParallel(10, (index) => intentMaker(store)(counterOf(index)));
    const taps = ids.map((intentId, index) =>
      pay(course.nodeOf(index), { intentId, pass, counter: counterOf(index) }),
    );
    return tally((await settled(store, Promise.all(taps))).map(summaryOf));
  }

  test('is not exceeded by ten simultaneous taps at several merchants', async () => {
    for (let round = 0; round < 20; round++) {
      const { pass, payer } = await addPayer(store);
      await limitPayer(store, payer.id, { perDay: 2_500_000 });
      const outcomes = await tapTen(pass, course.counterOf);
      assert.deepEqual(outcomes, { succeeded: 1, limit_exceeded: 9 });
    }
    await course.checkMoney();
  });

  test('of one merchant per hour is not exceeded by ten simultaneous taps', async () => {
    const counter = await addStore(store, clock);
    await setRiskRules(counter, { velocityPerHour: 1 });
    const { pass } = await addPayer(store);
    const outcomes = await tapTen(pass, () => counter);
    assert.deepEqual(outcomes, { succeeded: 1, risk_blocked: 9 });
    await course.checkMoney();
  });
});

describe('an agent token', () => {
  async function mint(amount = 2_500_000): Promise<{ token: string; id: string; payerId: string }> {
    const { payer } = await addPayer(store);
    return { ...(await mintToken(store, payer.id, amount)), payerId: payer.id };
  }

  test('pays once, for any number of confirms and intents', async () => {
    for (let round = 0; round < 20; round++) {
      const { token } = await mint();
      const ids = await inParallel(5, () => addIntent(store));
      // Confirms of different intents go to different nodes, which share nothing but the token.
      const confirms = Array.from({ length: 20 }, (_, index) => {
        const at = index % ids.length;
        return pay(course.nodeOf(at), { intentId: ids[at] ?? '', token });
      });
      const outcomes = (await settled(store, Promise.all(confirms))).map(summaryOf);
      assert.equal(tally(outcomes).succeeded, 1, String(outcomes));
      const counts = await course.statusesOf(ids);
      assert.equal(counts.get('succeeded'), 1);
    }
    await course.checkMoney();
  });

  test('is free again if the chain refuses, and spent by the payment that succeeds', async () => {
    const { token } = await mint();
    const first = await addIntent(store);
    const confirming = pay(store, { intentId: first, token });
    while ((await playChain(store, 'insufficient_funds')) === 0);
    assert.equal(summaryOf(await confirming), 'insufficient_funds');
    const second = await addIntent(store);
    assert.equal(summaryOf(await payAndSettle(store, { intentId: second, token })), 'succeeded');
    assert.equal(summaryOf(await pay(store, { intentId: first, token })), 'agent_token_used');
  });

  test('either pays before its revocation, or not at all', async () => {
    const race = async () => {
      const { token, id, payerId } = await mint();
      const intentId = await addIntent(store);
      const revoking = store.db.transaction((tx) =>
        revokeAgentTokenRow(tx, { id, payerId, now: clock.now() }),
      );
      const [paid] = await Promise.all([pay(store, { intentId, token }), revoking]);
      const outcome = summaryOf(paid);
      assert.ok(['succeeded', 'agent_token_expired'].includes(outcome), outcome);
    };
    await settled(store, inParallel(100, race));
    await course.checkMoney();
  });

  /**
   * Returns a token that waits for its payer's confirmation of one intent, and a second intent of
   * the same amount.
   */
  async function ask() {
    const minted = await mint(HIGH);
    const [first, second] = [
      await addIntent(store, { amount: HIGH }),
      await addIntent(store, { amount: HIGH }),
    ];
    const askedAt = clock.now();
    const { token } = minted;
    assert.equal(summaryOf(await pay(store, { intentId: first, token })), 'requires_action');
    return { ...minted, first, second, askedAt };
  }

  const approve = (intentId: string, now: Date) => answerAsPayer(store, intentId, { now });

  test('held by an intent that waits for its payer pays no other intent', async () => {
    const { token, first, second, askedAt } = await ask();
    const confirm = (now: Date) => pay(store, { intentId: second, token, now });
    assert.equal(summaryOf(await confirm(askedAt)), 'agent_token_used');
    assert.equal(summaryOf(await confirm(addMs(askedAt, 59_999))), 'agent_token_used');
    await approve(first, addMs(askedAt, 59_999));
    assert.equal(summaryOf(await confirm(addMs(askedAt, 60_000))), 'agent_token_used');
    await playChain(store);
    const counts = await course.statusesOf([first, second]);
    assert.deepEqual([...counts].sort(), [
      ['requires_payment_method', 1],
      ['succeeded', 1],
    ]);
  });

  test('is free again if its payer has not answered in time', async () => {
    const { token, second, askedAt } = await ask();
    const now = addMs(askedAt, 60_000);
    assert.equal(summaryOf(await pay(store, { intentId: second, token, now })), 'requires_action');
  });

  for (const start of ['the approval', 'the other confirm'] as const) {
    test(`pays once when an approval in time meets a late confirm, ${start} first`, async () => {
      const { token, payerId, first, second, askedAt } = await ask();
      const { db } = store;
      const work = {
        'the approval': () => approve(first, addMs(askedAt, 59_999)),
        'the other confirm': () =>
          pay(store, { intentId: second, token, now: addMs(askedAt, 60_000) }),
      };
      const inTurn = start === 'the approval' ? Object.values(work) : Object.values(work).reverse();
      const under: Promise<unknown>[] = [];
      // Lets both requests proceed until they wait for locks, before either one reads the payer's
      // sums.
      await db.transaction(async (tx) => {
        await lockPayer(tx, payerId);
        for (const begin of inTurn) {
          under.push(begin());
          await waitingForLocks(db, under.length);
        }
      });
      await Promise.all(under);
      await approve(second, addMs(askedAt, 60_001));
      const counts = await course.statusesOf([first, second]);
      assert.equal(counts.get('processing'), 1);
      await playChain(store);
      await course.checkMoney();
    });
  }
});
