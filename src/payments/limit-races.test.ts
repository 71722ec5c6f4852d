import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { addMs, type FakeClock } from '#core/clock.ts';
import { revokeAgentTokenRow } from '#payers/agent-token-queries.ts';
import { createAgentToken } from '#payers/create-agent-token.ts';
import { lockPayer, updatePayerLimits } from '#payers/payer-queries.ts';
import { answerConfirmation } from '#payments/answer-confirmation.ts';
import { saveRiskSettings } from '#risk/risk-queries.ts';
import { inParallel, openRaceCourse, type RaceCourse } from '#testing/race-course.ts';
import {
  addIntent,
  addMerchant,
  addPayer,
  addTerminal,
  intentMaker,
  keepSettling,
  pay,
  playChain,
  summaryOf,
  type TestStore,
} from '#testing/store.ts';

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
  test('is not exceeded by ten simultaneous taps at several merchants', async () => {
    for (let round = 0; round < 20; round++) {
      const { pass, payer } = await addPayer(store);
      await store.db.transaction((tx) =>
        updatePayerLimits(tx, {
          id: payer.id,
          limit_per_payment: null,
          limit_per_day: 2_500_000n,
          confirm_first_payment: false,
        }),
      );
      const ids = await inParallel(10, (index) => intentMaker(store)(course.counterOf(index)));
      const settling = keepSettling(store);
      const now = clock.now();
      const taps = ids.map((intentId, index) =>
        pay(course.nodeOf(index), { intentId, pass, counter: course.counterOf(index), now }),
      );
      const outcomes = (await Promise.all(taps)).map(summaryOf);
      await settling.stop();
      assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1);
      assert.equal(outcomes.filter((one) => one === 'limit_exceeded').length, 9);
    }
    await course.checkMoney();
  });

  test('of one merchant per hour is not exceeded by ten simultaneous taps', async () => {
    const merchant = await addMerchant(store.db, { now: NOON });
    const counter = { merchant, ...(await addTerminal(store.db, merchant, NOON)) };
    const off = { firstPaymentConfirmFrom: null, highAmountConfirmFrom: null };
    await store.db.transaction((tx) =>
      saveRiskSettings(tx, merchant.tenant, {
        settings: { ...off, velocityPerHour: 1 },
        version: 0,
        now: NOON,
      }),
    );
    const { pass } = await addPayer(store);
    const ids = await inParallel(10, () => intentMaker(store)(counter));
    const settling = keepSettling(store);
    const now = clock.now();
    const taps = ids.map((intentId, index) =>
      pay(course.nodeOf(index), { intentId, pass, counter, now }),
    );
    const outcomes = (await Promise.all(taps)).map(summaryOf);
    await settling.stop();
    assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1);
    assert.equal(outcomes.filter((one) => one === 'risk_blocked').length, 9);
    await course.checkMoney();
  });
});

describe('an agent token', () => {
  async function mint(amount = 2_500_000): Promise<{ token: string; id: string; payerId: string }> {
    const { payer } = await addPayer(store);
    const { tenant } = store.merchant;
    const { row, secret } = await store.db.transaction((tx) =>
      createAgentToken(tx, {
        payerId: payer.id,
        tenant,
        amount,
        expiresIn: 3600,
        now: clock.now(),
      }),
    );
    return { token: secret, id: row.id, payerId: payer.id };
  }

  test('pays once, for any number of confirms and intents', async () => {
    for (let round = 0; round < 20; round++) {
      const { token } = await mint();
      const ids = await inParallel(5, () => addIntent(store));
      const settling = keepSettling(store);
      // Confirms of different intents go to different nodes, which share nothing but the token.
      const confirms = Array.from({ length: 20 }, (_, index) => {
        const at = index % ids.length;
        return pay(course.nodeOf(at), { intentId: ids[at] ?? '', token });
      });
      const outcomes = (await Promise.all(confirms)).map(summaryOf);
      await settling.stop();
      assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1, String(outcomes));
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
    const settling = keepSettling(store);
    assert.equal(summaryOf(await pay(store, { intentId: second, token })), 'succeeded');
    await settling.stop();
    assert.equal(summaryOf(await pay(store, { intentId: first, token })), 'agent_token_used');
  });

  test('either pays before its revocation, or not at all', async () => {
    const settling = keepSettling(store);
    await inParallel(100, async () => {
      const { token, id, payerId } = await mint();
      const intentId = await addIntent(store);
      const revoking = store.db.transaction((tx) =>
        revokeAgentTokenRow(tx, { id, payerId, now: clock.now() }),
      );
      const [paid] = await Promise.all([pay(store, { intentId, token }), revoking]);
      const outcome = summaryOf(paid);
      assert.ok(['succeeded', 'agent_token_expired'].includes(outcome), outcome);
    });
    await settling.stop();
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

  const approve = (intentId: string, now: Date) =>
    answerConfirmation(store.ctx, { intentId, mayAnswer: () => true, approve: true, now });

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
          await waitsForLocks(under.length);
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

  async function waitsForLocks(count: number): Promise<void> {
    const sql = `select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`;
    while ((await store.db.query(sql)).length < count) await sleep(10);
  }
});
