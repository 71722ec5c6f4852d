import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { FakeClock } from '#core/clock.ts';
import { revokeAgentTokenRow } from '#payers/agent-token-queries.ts';
import { createAgentToken } from '#payers/create-agent-token.ts';
import { updatePayerLimits } from '#payers/queries.ts';
import { saveRiskSettings } from '#risk/queries.ts';
import { inLanes, openRaceCourse, type RaceCourse } from '#testing/race-course.ts';
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

let course: RaceCourse;
let store: TestStore;
let clock: FakeClock;

before(async () => {
  course = await openRaceCourse(NOON);
  ({ store, clock } = course);
});
after(() => store.close());

describe('a limit that allows one payment', () => {
  test('is not raced past by ten taps at once, at several merchants', async () => {
    for (let round = 0; round < 20; round++) {
      const { pass, payer } = await addPayer(store);
      await store.db.transaction((tx) =>
        updatePayerLimits(tx, {
          id: payer.id,
          limitPerPayment: null,
          limitPerDay: 2_500_000n,
          confirmFirstPayment: false,
        }),
      );
      const ids = await inLanes(10, (index) => intentMaker(store)(course.counterOf(index)));
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

  test('of one merchant per hour is not raced past by ten taps at once', async () => {
    const standing = await addMerchant(store.db, { now: NOON });
    const counter = { standing, ...(await addTerminal(store.db, standing, NOON)) };
    const off = { firstPaymentConfirmFrom: null, highAmountConfirmFrom: null };
    await store.db.transaction((tx) =>
      saveRiskSettings(tx, standing.tenant, {
        settings: { ...off, velocityPerHour: 1 },
        version: 0,
        now: NOON,
      }),
    );
    const { pass } = await addPayer(store);
    const ids = await inLanes(10, () => intentMaker(store)(counter));
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
  async function mint(): Promise<{ token: string; id: string; payerId: string }> {
    const { payer } = await addPayer(store);
    const { tenant } = store.standing;
    const { row, secret } = await store.db.transaction((tx) =>
      createAgentToken(tx, {
        payerId: payer.id,
        tenant,
        amount: 2_500_000,
        expiresIn: 3600,
        now: clock.now(),
      }),
    );
    return { token: secret, id: row.id, payerId: payer.id };
  }

  test('pays once, however many confirms of however many intents carry it', async () => {
    for (let round = 0; round < 20; round++) {
      const { token } = await mint();
      const ids = await inLanes(5, () => addIntent(store));
      const settling = keepSettling(store);
      // Each intent at a node of its own: nothing but the token brings them together.
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

  test('is free again when the chain refuses, and spent by the payment that succeeds', async () => {
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
    await inLanes(100, async () => {
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
});
