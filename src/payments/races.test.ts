import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { addMs } from '#core/clock.ts';
import { expireIntents } from '#payments/store-expired-intents.ts';
import type { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { tally } from '#testkit/fixtures/core/tally.ts';
import {
  inParallel,
  openRaceCourse,
  type RaceCourse,
} from '#testkit/fixtures/payments/race-course.ts';
import {
  addIntent,
  addPayer,
  addTerminal,
  bodyOf,
  type Counter,
  intentMaker,
  keepSettling,
  openSale,
  pay,
  playChain,
  settled,
  summaryOf,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { storedStatus } from '#testkit/fixtures/payments/store-payments.ts';
import {
  answerAsPayer,
  cancel as cancelIntent,
} from '#testkit/fixtures/payments/store-requests.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');

let course: RaceCourse;
let store: TestStore;
let clock: FakeClock;

before(async () => {
  course = await openRaceCourse(NOON);
  ({ store, clock } = course);
});
after(() => store.close());

const cancel = (intentId: string, { merchant }: Counter) =>
  cancelIntent(store, intentId, { tenant: merchant.tenant, now: NOON });

/**
 * Makes a tap and a cancel reach the intent's lock at the same time. The cancel starts when the tap
 * has queried the chain or, in every second race, one statement later. Does not wait for the
 * settlement, because only the tap's decision is tested.
 */
async function tapAgainstCancel({
  intentId,
  pass,
  counter,
  index,
}: {
  readonly intentId: string;
  readonly pass: string;
  readonly counter: Counter;
  readonly index: number;
}): Promise<string[]> {
  const canceling = Promise.withResolvers<string>();
  const startCancel = async () => {
    if (index % 2 === 1) await store.db.query('select 1 as head_start');
    return summaryOf(await cancel(intentId, counter));
  };
  const preflight = async () => {
    canceling.resolve(startCancel());
    return { ok: true as const };
  };
  const tapping = { ...store, ctx: { ...store.ctx, outside: { ...store.ctx.outside, preflight } } };
  const paid = pay(tapping, { intentId, pass, counter, hangUp: true }).then(summaryOf);
  return Promise.all([paid, canceling.promise]);
}

describe('exactly one outcome', () => {
  test('when a cancel meets a tap, hundreds of times', async () => {
    // Number of races; the long run makes ten thousand.
    const races = Number(process.env.RACES ?? 200);
    const create = intentMaker(store);
    const passes = await inParallel(64, () => addPayer(store));
    const ids = await inParallel(races, async (index) => {
      const counter = course.counterOf(index);
      const intentId = await create(counter);
      const pass = passes[index % passes.length]?.pass ?? '';
      const [paid, canceled] = await tapAgainstCancel({ intentId, pass, counter, index });
      const won = paid === 'processing' ? 'payment_intent_unexpected_state' : 'canceled';
      assert.equal(canceled, won, `${intentId}: ${paid} and ${canceled}`);
      return intentId;
    });
    while ((await playChain(store)) > 0);
    const counts = await course.statusesOf(ids);
    const [succeeded, canceled] = [counts.get('succeeded') ?? 0, counts.get('canceled') ?? 0];
    assert.equal(succeeded + canceled, races);
    assert.ok(Math.min(succeeded, canceled) > races / 100, `${succeeded} to ${canceled}: no race`);
    await course.checkMoney();
  });

  test('when one pass is tapped fifty times concurrently', async () => {
    const { intentId, pass } = await openSale(store);
    const taps = Array.from({ length: 50 }, (_, index) =>
      pay(course.nodeOf(index), { intentId, pass }),
    );
    const outcomes = (await settled(store, Promise.all(taps))).map(summaryOf);
    assert.deepEqual(tally(outcomes), { succeeded: 1, payment_intent_unexpected_state: 49 });
    await course.checkMoney();
  });

  test('when one request is sent fifty times concurrently with one key', async () => {
    const { intentId, pass } = await openSale(store);
    const taps = Array.from({ length: 50 }, (_, index) =>
      pay(course.nodeOf(index), { intentId, pass, key: 'fifty' }),
    );
    const outcomes = (await settled(store, Promise.all(taps))).map(summaryOf);
    const allowed = ['succeeded', 'idempotency_request_in_progress'];
    assert.deepEqual(
      outcomes.filter((one) => !allowed.includes(one)),
      [],
    );
    assert.equal(summaryOf(await pay(store, { intentId, pass, key: 'fifty' })), 'succeeded');
    await course.checkMoney();
  });

  test('when two payers tap one intent', async () => {
    const create = intentMaker(store);
    const [one, two] = await Promise.all([addPayer(store), addPayer(store)]);
    const race = async (index: number) => {
      const counter = course.counterOf(index);
      const intentId = await create(counter);
      const taps = [one, two].map(({ pass }, at) =>
        pay(course.nodeOf(at), { intentId, pass, counter }),
      );
      const outcomes = (await Promise.all(taps)).map(summaryOf).sort();
      assert.deepEqual(outcomes, ['payment_intent_unexpected_state', 'succeeded']);
    };
    await settled(store, inParallel(200, race));
    await course.checkMoney();
  });

  test('when two terminals are tapped for one intent: only its own one pays', async () => {
    const create = intentMaker(store);
    const { pass } = await addPayer(store);
    const { merchant } = store;
    const other = { merchant, ...(await addTerminal(store.db, merchant, NOON)) };
    const race = async () => {
      const intentId = await create(store);
      const taps = [store, other].map((counter) => pay(store, { intentId, pass, counter }));
      const outcomes = (await Promise.all(taps)).map(summaryOf);
      assert.deepEqual(outcomes, ['succeeded', 'resource_missing']);
    };
    await settled(store, inParallel(50, race));
    await course.checkMoney();
  });

  test('when a tap of the last millisecond meets the expiry', async () => {
    const { pass } = await addPayer(store);
    const settling = keepSettling(store);
    for (let i = 0; i < 100; i++) {
      const intentId = await addIntent(store, { expiresIn: 30 });
      const [row] = await store.db.query<{ expires_at: Date }>(
        'select expires_at from payment_intents where id = $1',
        [intentId],
      );
      const expiresAt = row?.expires_at ?? NOON;
      clock.advance(expiresAt.getTime() - clock.now().getTime());
      const lastMoment = pay(store, { intentId, pass, now: addMs(expiresAt, -1) });
      await Promise.all([lastMoment, expireIntents(store)]);
      const outcome = summaryOf(await lastMoment);
      assert.ok(['succeeded', 'payment_intent_unexpected_state'].includes(outcome), outcome);
    }
    await settling.stop();
    await course.checkMoney();
  });
});

describe('a payer who must confirm', () => {
  /** Returns an intent that waits for its payer's confirmation. Cycles through the counters. */
  async function asked(index: number): Promise<{ intentId: string; counter: Counter }> {
    const counter = course.counterOf(index);
    const { pass } = await addPayer(store);
    const intentId = await intentMaker(store)(counter, { amount: 50_000_000 });
    const intent = bodyOf(await pay(store, { intentId, pass, counter, now: clock.now() }));
    assert.equal(intent.status, 'requires_action');
    return { intentId, counter };
  }

  test('either approves or loses to the cancel', async () => {
    await inParallel(300, async (index) => {
      const { intentId, counter } = await asked(index);
      const both = [answerAsPayer(store, intentId), cancel(intentId, counter)] as const;
      const [approved, canceled] = await Promise.all(both);
      const processing = !isRefusal(approved) && approved.status === 'processing';
      const expected = processing ? 'payment_intent_unexpected_state' : 'canceled';
      assert.equal(summaryOf(canceled), expected);
    });
    await playChain(store);
    await course.checkMoney();
  });

  test('either approves or rejects, when the app sends both concurrently', async () => {
    await inParallel(100, async (index) => {
      const { intentId } = await asked(index);
      const say = (approve: boolean) => answerAsPayer(store, intentId, { approve });
      const answers = await Promise.all([say(true), say(false)]);
      assert.equal(answers.filter(isRefusal).length, 1);
    });
    await playChain(store);
    await course.checkMoney();
  });

  test('either approves in time or has timed out', async () => {
    for (let i = 0; i < 50; i++) {
      const { intentId } = await asked(i);
      const now = addMs(clock.now(), 59_999);
      clock.advance(60_000);
      const approving = answerAsPayer(store, intentId, { now });
      const [approved] = await Promise.all([approving, expireIntents(store)]);
      const isApproved = (await storedStatus(store, intentId)) === 'processing';
      assert.equal(isApproved, !isRefusal(approved));
    }
    await playChain(store);
    await course.checkMoney();
  });
});
