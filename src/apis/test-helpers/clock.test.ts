import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { advanceTestClock } from '#apis/test-helpers/clock-routes.ts';
import { createAgentToken } from '#payers/create-agent-token.ts';
import { answerConfirmation } from '#payments/answer-confirmation.ts';
import { selectIntent } from '#payments/intent-queries.ts';
import { renderIntent } from '#payments/render.ts';
import { serveStore } from '#testkit/apis/store-server.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import {
  addIntent,
  addMerchant,
  addPayer,
  addTerminal,
  intentMaker,
  keepSettling,
  openStore,
  pay,
  summaryOf,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { addEndpoint } from '#testkit/fixtures/webhooks/webhook-endpoints.ts';
import { writeTestEvents } from '#testkit/fixtures/webhooks/webhook-events.ts';
import { eventually, openBench } from '#testkit/fixtures/webhooks/webhooks.ts';
import { startReceiver } from '#testkit/network/webhook-receiver.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');
const HOUR = 3_600;
const DAY = 86_400;

let store: TestStore;
let clock: FakeClock;

before(async () => {
  clock = new FakeClock(NOON);
  store = await openStore({ clock });
});
after(() => store.close());

async function addCounter() {
  const merchant = await addMerchant(store.db, { now: NOON });
  return { merchant, counter: { merchant, ...(await addTerminal(store.db, merchant, NOON)) } };
}

function advance(seconds: number, tenant = store.merchant.tenant) {
  return advanceTestClock(store, { tenant, seconds });
}

async function statusOf(intentId: string): Promise<string | undefined> {
  return (await selectIntent(store.db, store.merchant.tenant, intentId))?.status;
}

describe('when the clock of a test account is advanced', () => {
  test('an open intent expires at its time, not a second earlier', async () => {
    const intentId = await addIntent(store, { expiresIn: 120 });
    await advance(119);
    assert.equal(await statusOf(intentId), 'requires_payment_method');
    await advance(1);
    assert.equal(await statusOf(intentId), 'canceled');
  });

  test('a confirmation can be given for 60 seconds', async () => {
    const asked = async () => {
      const { pass } = await addPayer(store);
      const intentId = await addIntent(store, { amount: 60_000_000, expiresIn: 600 });
      assert.equal(summaryOf(await pay(store, { intentId, pass })), 'requires_action');
      return intentId;
    };
    const approve = (intentId: string) =>
      answerConfirmation(store.ctx, { intentId, mayAnswer: () => true, approve: true, now: NOON });
    const inTime = await asked();
    await advance(59);
    assert.ok('status' in (await approve(inTime)));
    const late = await asked();
    await advance(60);
    const intent = await selectIntent(store.db, store.merchant.tenant, late);
    assert.equal(intent?.last_payment_error?.decline_code, 'confirmation_timeout');
  });

  test('an agent token expires', async () => {
    const { payer } = await addPayer(store);
    const { tenant } = store.merchant;
    const { secret: token } = await store.db.transaction((tx) =>
      createAgentToken(tx, { payerId: payer.id, tenant, amount: 9, expiresIn: HOUR, now: NOON }),
    );
    await advance(HOUR);
    const intentId = await addIntent(store, { amount: 9 });
    assert.equal(summaryOf(await pay(store, { intentId, token })), 'agent_token_expired');
  });

  test('a stored response is deleted after 48 hours', async () => {
    const { pass } = await addPayer(store);
    const intentId = await addIntent(store);
    const settling = keepSettling(store);
    const first = await pay(store, { intentId, pass, key: 'forgotten' });
    await settling.stop();
    await advance(48 * HOUR - 1);
    const replayed = await pay(store, { intentId, pass, key: 'forgotten' });
    assert.equal(summaryOf(replayed), summaryOf(first));
    await advance(1);
    const anew = await pay(store, { intentId, pass, key: 'forgotten' });
    assert.equal(summaryOf(anew), 'payment_intent_unexpected_state');
  });

  test('other accounts are not affected', async () => {
    const merchant = await addMerchant(store.db, { now: NOON });
    const counter = { merchant, ...(await addTerminal(store.db, merchant, NOON)) };
    const intentId = await intentMaker(store)(counter, { expiresIn: 30 });
    await advance(DAY);
    const intent = await selectIntent(store.db, merchant.tenant, intentId);
    assert.equal(intent?.status, 'requires_payment_method');
    assert.equal(intent?.expires_at.getTime(), NOON.getTime() + 30_000);
  });

  test('its events pass their retention after 30 days, and not before', async () => {
    const merchant = await addMerchant(store.db, { now: NOON });
    const counter = { merchant, ...(await addTerminal(store.db, merchant, NOON)) };
    await intentMaker(store)(counter);
    const count = async () =>
      (
        await store.db.query('select 1 from events where account_id = $1', [
          merchant.tenant.accountId,
        ])
      ).length;
    await advance(30 * DAY, merchant.tenant);
    assert.equal(await count(), 2);
    await advance(1, merchant.tenant);
    assert.ok((await count()) < 2);
  });

  test('new objects and events are created by its new time, and their deadlines too', async () => {
    const { merchant, counter } = await addCounter();
    const server = await serveStore({ ...store, merchant });
    const caller = await server.merchant();
    for (const ahead of [10 * DAY, 20 * DAY]) {
      await advance(10 * DAY, merchant.tenant);
      // The first request reads the clock from the database; later ones use the process's cache.
      // The loop covers both.
      for (const amount of [1, 2, 3]) {
        const { body } = await caller.post('/payment_intents', {
          amount,
          terminal: counter.terminalId,
          expires_in: 600,
        });
        assert.equal(Date.parse(String(body.created)), NOON.getTime() + ahead * 1000);
        assert.equal(Date.parse(String(body.expires_at)), NOON.getTime() + (ahead + 600) * 1000);
        assert.deepEqual((await caller.get(`/payment_intents/${body.id}`)).body, body);
      }
    }
    const [event] = await store.db.query<{ created: Date }>(
      'select created from events where account_id = $1 order by position desc limit 1',
      [merchant.tenant.accountId],
    );
    assert.equal(event?.created.getTime(), NOON.getTime() + 20 * DAY * 1000);
    await server.close();
  });

  test('overdue objects stay overdue after later advances, and show the same time', async () => {
    const { merchant, counter } = await addCounter();
    await advance(DAY, merchant.tenant);
    const intentId = await intentMaker(store)(counter, { expiresIn: 120 });
    const shown = async () => {
      const intent = await selectIntent(store.db, merchant.tenant, intentId);
      return intent === null ? null : renderIntent(intent);
    };
    const first = await shown();
    await advance(119, merchant.tenant);
    assert.deepEqual(await shown(), first);
    await advance(1, merchant.tenant);
    const canceled = await shown();
    assert.equal(canceled?.status, 'canceled');
    assert.equal(canceled?.canceled_at, first?.expires_at);
  });

  test('a payer may spend the daily limit again on the next day', async () => {
    const { merchant, counter } = await addCounter();
    const { pass, payer } = await addPayer(store);
    await store.db.query('update payers set limit_per_day = 1000 where id = $1', [payer.id]);
    const settling = keepSettling(store);
    const spend = async () => {
      const intentId = await intentMaker(store)(counter, { amount: 800 });
      return summaryOf(await pay(store, { intentId, pass, counter }));
    };
    assert.equal(await spend(), 'succeeded');
    assert.equal(await spend(), 'limit_exceeded');
    await advance(DAY, merchant.tenant);
    assert.equal(await spend(), 'succeeded');
    assert.equal(await spend(), 'limit_exceeded');
    await settling.stop();
  });

  test('two concurrent advances add up', async () => {
    const merchant = await addMerchant(store.db, { now: NOON });
    await Promise.all(Array.from({ length: 5 }, () => advance(10, merchant.tenant)));
    const { advancedSeconds, now } = await advance(10, merchant.tenant);
    assert.equal(advancedSeconds, 60);
    assert.equal(now.getTime(), NOON.getTime() + 60_000);
  });
});

test('webhook retries keep their schedule', async (t) => {
  const bench = await openBench();
  const receiver = await startReceiver();
  t.after(async () => {
    await receiver.close();
    await bench.close();
  });
  receiver.answer((_received, response) => void response.writeHead(500).end());
  await addEndpoint(bench, `${receiver.url}/hook`);
  bench.startWorker();
  await writeTestEvents(bench);
  await receiver.waitFor(1);
  const nextAttempt = async () => {
    const rows = await bench.db.query<{ due_at: Date }>(
      'select due_at from webhook_due where attempt = 1',
    );
    return rows[0]?.due_at.getTime();
  };
  await eventually('the attempt is recorded', async () => (await nextAttempt()) !== undefined);
  const before = await nextAttempt();
  await advanceTestClock(bench, { tenant: bench.tenant, seconds: DAY });
  assert.equal(await nextAttempt(), before);
});

test('the clock is read and advanced over the API, with test keys only', async () => {
  const server = await serveStore(store);
  const merchant = await server.merchant();
  const before = (await merchant.get('/test_helpers/clock')).body;
  const advanced = await merchant.post('/test_helpers/clock/advance', { seconds: 90 });
  assert.equal(advanced.status, 200);
  assert.equal(advanced.body.object, 'test_clock');
  assert.equal(advanced.body.advanced_seconds, Number(before.advanced_seconds) + 90);
  assert.deepEqual((await merchant.get('/test_helpers/clock')).body, advanced.body);
  for (const seconds of [0, -1, 1.5, 366 * DAY + 1, '60']) {
    const { status } = await merchant.post('/test_helpers/clock/advance', { seconds });
    assert.equal(status, 400);
  }
  await server.close();
});

test('while the clock is ahead, every response of the merchant API has its header', async () => {
  const own = await openStore();
  const server = await serveStore(own);
  try {
    const merchant = await server.merchant();
    assert.equal((await merchant.get('/terminals')).headers.get('test-clock'), null);
    await merchant.post('/test_helpers/clock/advance', { seconds: HOUR });
    // Retries, because a process caches an API key's row for a moment.
    const said = await eventually(
      'the header',
      async () => (await merchant.get('/terminals')).headers.get('test-clock') ?? undefined,
    );
    assert.match(said, /^20.*Z \(3600 s ahead\)$/);
    assert.equal(Math.round((Date.parse(said.split(' ')[0] ?? '') - Date.now()) / HOUR), 1_000);
  } finally {
    await server.close();
    await own.close();
  }
});
