import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { addMs, FakeClock } from '#core/clock.ts';
import { isRefusal } from '#core/refusal.ts';
import { revokeAgentTokenRow } from '#payers/agent-token-queries.ts';
import { createAgentToken } from '#payers/create-agent-token.ts';
import { updatePayerLimits } from '#payers/queries.ts';
import { cancelIntent } from '#payments/cancel.ts';
import { answerConfirmation } from '#payments/confirm.ts';
import { expireIntents } from '#payments/expire.ts';
import { saveRiskSettings } from '#risk/queries.ts';
import {
  addIntent,
  addMerchant,
  addPayer,
  addTerminal,
  bodyOf,
  type Counter,
  intentMaker,
  keepSettling,
  openStore,
  pay,
  playChain,
  summaryOf,
  type TestStore,
} from '#testing/store.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');
/** Accounts commit one after the other within themselves: several keep the processors busy. */
const COUNTERS = 32;
/** Races that are under way at once. */
const AT_ONCE = 48;

let clock: FakeClock;
let store: TestStore;
const counters: Counter[] = [];

before(async () => {
  clock = new FakeClock(NOON);
  store = await openStore({ clock, maxConnections: 32 });
  for (let i = 0; i < COUNTERS; i++) {
    const standing = await addMerchant(store.db, { now: NOON });
    counters.push({ standing, ...(await addTerminal(store.db, standing, NOON)) });
  }
});
after(() => store.close());

function counterOf(index: number): Counter {
  return counters[index % COUNTERS] as Counter;
}

/** Runs `race(0)` … `race(count - 1)`, some at a time. */
async function inLanes<T>(count: number, race: (index: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) results[index] = await race(index);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, count) }, lane));
  return results;
}

function cancel(intentId: string, counter: Counter = store) {
  const { tenant } = counter.standing;
  const idempotency = null;
  return cancelIntent(store, { tenant, intentId, idempotency, requestId: 'req_test', now: NOON });
}

/**
 * Both go for the intent's lock at the same moment: the cancel starts when the tap has asked the
 * chain, for every other race one statement later. Nobody waits for the settlement: what the tap
 * has decided is what counts.
 */
async function tapAgainstCancel(of: {
  readonly intentId: string;
  readonly pass: string;
  readonly counter: Counter;
  readonly index: number;
}): Promise<string[]> {
  const { intentId, pass, counter, index } = of;
  const canceling = Promise.withResolvers<string>();
  const startCancel = async () => {
    if (index % 2 === 1) await store.db.query('select 1 as head_start');
    return summaryOf(await cancel(intentId, counter));
  };
  const preflight = async () => {
    canceling.resolve(startCancel());
    return { ok: true as const };
  };
  const tapping = { ...store, pay: { ...store.pay, preflight } };
  const paid = pay(tapping, { intentId, pass, counter, hangUp: true }).then(summaryOf);
  return Promise.all([paid, canceling.promise]);
}

function approve(intentId: string, now: Date = NOON) {
  return answerConfirmation(store, { intentId, mayAnswer: () => true, approve: true, now });
}

/** What every race must leave behind, whoever won it. */
async function checkMoney(): Promise<void> {
  const wrong = await store.db.query(
    `select i.id, i.status,
       (select count(*) from chain_requests r
        where r.subject_id = i.id and r.status = 'succeeded') as settled,
       (select count(*) from payments p where p.payment_intent_id = i.id) as payments
     from payment_intents i
     where (i.status = 'succeeded') is distinct from exists (
         select from chain_requests r where r.subject_id = i.id and r.status = 'succeeded')
       or (i.status = 'succeeded') is distinct from exists (
         select from payments p where p.payment_intent_id = i.id and p.amount = i.amount)
       or (i.status = 'canceled' and exists (
         select from chain_requests r where r.subject_id = i.id and r.status <> 'failed'))`,
  );
  assert.deepEqual(wrong, []);
  const [sums] = await store.db.query<{ chain: bigint; ours: bigint }>(
    `select
       (select coalesce(sum((payload ->> 'amount')::bigint), 0)::bigint from chain_requests
        where kind = 'payment' and status = 'succeeded') as chain,
       (select coalesce(sum(amount), 0)::bigint from payments) as ours`,
  );
  assert.equal(sums?.ours, sums?.chain);
}

async function statusesOf(ids: readonly string[]): Promise<Map<string, number>> {
  const rows = await store.db.query<{ status: string }>(
    'select status from payment_intents where id = any($1)',
    [ids],
  );
  const counts = new Map<string, number>();
  for (const { status } of rows) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

describe('exactly one outcome', () => {
  test('when a cancel meets a tap, ten thousand times', async () => {
    const races = 10_000;
    const create = intentMaker(store);
    const passes = await inLanes(64, () => addPayer(store));
    const ids = await inLanes(races, async (index) => {
      const counter = counterOf(index);
      const intentId = await create(counter);
      const pass = passes[index % passes.length]?.pass ?? '';
      const [paid, canceled] = await tapAgainstCancel({ intentId, pass, counter, index });
      const won = paid === 'processing' ? 'payment_intent_unexpected_state' : 'canceled';
      assert.equal(canceled, won, `${intentId}: ${paid} and ${canceled}`);
      return intentId;
    });
    while ((await playChain(store)) > 0);
    const counts = await statusesOf(ids);
    const [succeeded, canceled] = [counts.get('succeeded') ?? 0, counts.get('canceled') ?? 0];
    assert.equal(succeeded + canceled, races);
    assert.ok(Math.min(succeeded, canceled) > races / 100, `${succeeded} to ${canceled}: no race`);
    await checkMoney();
  });

  test('when one pass is tapped fifty times at once', async () => {
    const { pass } = await addPayer(store);
    const intentId = await addIntent(store);
    const settling = keepSettling(store);
    const taps = Array.from({ length: 50 }, () => pay(store, { intentId, pass }));
    const outcomes = (await Promise.all(taps)).map(summaryOf).sort();
    await settling.stop();
    assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1);
    assert.equal(outcomes.filter((one) => one === 'payment_intent_unexpected_state').length, 49);
    await checkMoney();
  });

  test('when one request is sent fifty times at once with one key', async () => {
    const { pass } = await addPayer(store);
    const intentId = await addIntent(store);
    const settling = keepSettling(store);
    const taps = Array.from({ length: 50 }, () => pay(store, { intentId, pass, key: 'fifty' }));
    const outcomes = (await Promise.all(taps)).map(summaryOf);
    await settling.stop();
    const allowed = ['succeeded', 'idempotency_request_in_progress'];
    assert.deepEqual(
      outcomes.filter((one) => !allowed.includes(one)),
      [],
    );
    assert.equal(summaryOf(await pay(store, { intentId, pass, key: 'fifty' })), 'succeeded');
    await checkMoney();
  });

  test('when two payers tap one intent', async () => {
    const create = intentMaker(store);
    const [one, two] = await Promise.all([addPayer(store), addPayer(store)]);
    const settling = keepSettling(store);
    await inLanes(200, async (index) => {
      const counter = counterOf(index);
      const intentId = await create(counter);
      const taps = [one, two].map(({ pass }) => pay(store, { intentId, pass, counter }));
      const outcomes = (await Promise.all(taps)).map(summaryOf).sort();
      assert.deepEqual(outcomes, ['payment_intent_unexpected_state', 'succeeded']);
    });
    await settling.stop();
    await checkMoney();
  });

  test('when two terminals are tapped for one intent: only its own one pays', async () => {
    const create = intentMaker(store);
    const { pass } = await addPayer(store);
    const { standing } = store;
    const other = { standing, ...(await addTerminal(store.db, standing, NOON)) };
    const settling = keepSettling(store);
    await inLanes(50, async () => {
      const intentId = await create(store);
      const taps = [store, other].map((counter) => pay(store, { intentId, pass, counter }));
      const outcomes = (await Promise.all(taps)).map(summaryOf);
      assert.deepEqual(outcomes, ['succeeded', 'resource_missing']);
    });
    await settling.stop();
    await checkMoney();
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
    await checkMoney();
  });
});

describe('a payer who is asked', () => {
  /** Intents that wait for their payers, one per counter in turn. */
  async function asked(index: number): Promise<{ intentId: string; counter: Counter }> {
    const counter = counterOf(index);
    const { pass } = await addPayer(store);
    const intentId = await intentMaker(store)(counter, { amount: 50_000_000 });
    const intent = bodyOf(await pay(store, { intentId, pass, counter, now: clock.now() }));
    assert.equal(intent.status, 'requires_action');
    return { intentId, counter };
  }

  test('either approves or loses to the cancel', async () => {
    await inLanes(300, async (index) => {
      const { intentId, counter } = await asked(index);
      const both = [approve(intentId, clock.now()), cancel(intentId, counter)] as const;
      const [approved, canceled] = await Promise.all(both);
      const processing = !isRefusal(approved) && approved.status === 'processing';
      const expected = processing ? 'payment_intent_unexpected_state' : 'canceled';
      assert.equal(summaryOf(canceled), expected);
    });
    await playChain(store);
    await checkMoney();
  });

  test('either approves or rejects, when the app says both at once', async () => {
    await inLanes(100, async (index) => {
      const { intentId } = await asked(index);
      const say = (yes: boolean) =>
        answerConfirmation(store, {
          intentId,
          mayAnswer: () => true,
          approve: yes,
          now: clock.now(),
        });
      const [yes, no] = await Promise.all([say(true), say(false)]);
      assert.equal([yes, no].filter((one) => isRefusal(one)).length, 1);
    });
    await playChain(store);
    await checkMoney();
  });

  test('either approves in time or has timed out', async () => {
    for (let i = 0; i < 50; i++) {
      const { intentId } = await asked(i);
      const lastMoment = addMs(clock.now(), 59_999);
      clock.advance(60_000);
      const [approved] = await Promise.all([approve(intentId, lastMoment), expireIntents(store)]);
      const [row] = await store.db.query<{ status: string }>(
        'select status from payment_intents where id = $1',
        [intentId],
      );
      assert.equal(row?.status === 'processing', !isRefusal(approved));
    }
    await playChain(store);
    await checkMoney();
  });
});

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
      const ids = await inLanes(10, (index) => intentMaker(store)(counterOf(index)));
      const settling = keepSettling(store);
      const now = clock.now();
      const taps = ids.map((intentId, index) =>
        pay(store, { intentId, pass, counter: counterOf(index), now }),
      );
      const outcomes = (await Promise.all(taps)).map(summaryOf);
      await settling.stop();
      assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1);
      assert.equal(outcomes.filter((one) => one === 'limit_exceeded').length, 9);
    }
    await checkMoney();
  });

  test('is not raced past by ten taps at once at one merchant that allows one per hour', async () => {
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
    const taps = ids.map((intentId) => pay(store, { intentId, pass, counter, now }));
    const outcomes = (await Promise.all(taps)).map(summaryOf);
    await settling.stop();
    assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1);
    assert.equal(outcomes.filter((one) => one === 'risk_blocked').length, 9);
    await checkMoney();
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
      const confirms = Array.from({ length: 20 }, (_, index) =>
        pay(store, { intentId: ids[index % ids.length] ?? '', token }),
      );
      const outcomes = (await Promise.all(confirms)).map(summaryOf);
      await settling.stop();
      assert.equal(outcomes.filter((one) => one === 'succeeded').length, 1, String(outcomes));
      const counts = await statusesOf(ids);
      assert.equal(counts.get('succeeded'), 1);
    }
    await checkMoney();
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
    await checkMoney();
  });
});
