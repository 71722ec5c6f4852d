import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { atoms, MAX_AMOUNT } from '#core/money.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import {
  addIntent,
  bodyOf,
  intentCreator,
  openSale,
  openStore,
  pay,
  payAndSettle,
  playChain,
  summaryOf,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import {
  addPayment,
  addStore,
  eventTypes,
  findPayment,
  newCreate,
  see,
  settleAfterDecline,
} from '#testkit/fixtures/payments/store-payments.ts';
import {
  answerAsPayer,
  limitPayer,
  setRiskRules,
} from '#testkit/fixtures/payments/store-requests.ts';

const NOON = new Date('2026-10-01T12:00:00.000Z');
const SALE = 2_500_000;
const TIP = 250_000;
const TIPPING = { percentages: [10, 15, 20] };

let clock: FakeClock;
let store: TestStore;
/** The amounts for which the chain was queried before each tap. */
const requests: bigint[] = [];

before(async () => {
  clock = new FakeClock(NOON);
  store = await openStore({
    clock,
    preflight: async ({ amount }) => {
      requests.push(amount);
      return { ok: true };
    },
  });
});
after(() => store.close());

const tipped = (amount = SALE) => addIntent(store, { amount, tipping: TIPPING });
const tippedSale = (amount = SALE) => openSale(store, { amount, tipping: TIPPING });

async function requestedOf(intentId: string): Promise<string[]> {
  const rows = await store.db.query<{ amount: string }>(
    `select payload ->> 'amount' as amount from chain_requests where subject_id = $1 order by id`,
    [intentId],
  );
  return rows.map(({ amount }) => amount);
}

async function snapshots(intentId: string): Promise<{ amount: number; tip: number | null }[]> {
  const rows = await store.db.query<{ body: string }>(
    'select body from events where object_id = $1 order by position',
    [intentId],
  );
  return rows.map(({ body }) => JSON.parse(body).data.object);
}

describe('a tip', () => {
  test('is charged to the payer together with the sale, and shown separately', async () => {
    const { intentId, pass } = await tippedSale();
    requests.length = 0;
    const intent = bodyOf(await payAndSettle(store, { intentId, pass, tip: TIP }));
    assert.deepEqual([intent.status, intent.tip], ['succeeded', TIP]);
    assert.deepEqual(requests, [BigInt(SALE + TIP)]);
    assert.deepEqual(await requestedOf(intentId), [String(SALE + TIP)]);
    const payment = await findPayment(store, intentId);
    assert.deepEqual([payment?.amount, payment?.tip], [BigInt(SALE + TIP), BigInt(TIP)]);
    assert.deepEqual(
      (await snapshots(intentId)).map(({ amount, tip }) => [amount, tip]),
      [
        [SALE, null],
        [SALE, null],
        [SALE, TIP],
      ],
    );
  });

  test('of 0 is the same as no tip', async () => {
    for (const given of [{}, { tip: 0 }]) {
      const { intentId, pass } = await tippedSale();
      const intent = bodyOf(await payAndSettle(store, { intentId, pass, ...given }));
      assert.deepEqual([intent.status, intent.tip], ['succeeded', 0]);
      assert.equal((await findPayment(store, intentId))?.tip, 0n);
    }
  });

  test('may be as much as the sale, and no more', async () => {
    const { intentId, pass } = await tippedSale();
    const refused = await pay(store, { intentId, pass, tip: SALE + 1, key: 'too much' });
    assert.equal(summaryOf(refused), 'parameter_invalid');
    assert.deepEqual(await eventTypes(store, intentId), ['payment_intent.created']);
    const paid = await payAndSettle(store, { intentId, pass, tip: SALE, key: 'too much' });
    assert.equal(summaryOf(paid), 'succeeded');
  });

  test('and its sale are at most 1000000000000 together', async () => {
    const { intentId, pass } = await tippedSale(MAX_AMOUNT - 5);
    assert.equal(summaryOf(await pay(store, { intentId, pass, tip: 6 })), 'parameter_invalid');
    assert.equal(summaryOf(await pay(store, { intentId, pass, tip: 5 })), 'requires_action');
    await answerAsPayer(store, intentId);
    await playChain(store);
    assert.equal((await findPayment(store, intentId))?.amount, BigInt(MAX_AMOUNT));
  });

  test('too large for the contract is refused before the chain is queried', async () => {
    const { intentId, pass } = await tippedSale(MAX_AMOUNT);
    requests.length = 0;
    const refused = await pay(store, { intentId, pass, tip: MAX_AMOUNT });
    assert.equal(summaryOf(refused), 'parameter_invalid');
    assert.deepEqual(requests, []);
  });

  test('is refused if the intent has no tipping, even a tip of 0', async () => {
    const { intentId, pass } = await openSale(store);
    for (const tip of [0, TIP]) {
      assert.equal(summaryOf(await pay(store, { intentId, pass, tip })), 'parameter_invalid');
    }
    assert.deepEqual(await requestedOf(intentId), []);
  });

  test('that was declined does not carry over to the next tap', async () => {
    const { intentId, pass } = await tippedSale();
    const first = pay(store, { intentId, pass, tip: TIP });
    while ((await playChain(store, 'insufficient_funds')) === 0);
    assert.equal(summaryOf(await first), 'insufficient_funds');
    const intent = bodyOf(await payAndSettle(store, { intentId, pass }));
    assert.deepEqual([intent.status, intent.tip], ['succeeded', 0]);
    assert.deepEqual(await requestedOf(intentId), [String(SALE + TIP), String(SALE)]);
  });
});

describe('limits and rules see sale and tip together', () => {
  test('the limit per payment', async () => {
    const { intentId, pass, payer } = await tippedSale();
    await limitPayer(store, payer.id, { perPayment: SALE + TIP });
    assert.equal(summaryOf(await pay(store, { intentId, pass, tip: TIP + 1 })), 'limit_exceeded');
    const paid = await payAndSettle(store, { intentId, pass, tip: TIP });
    assert.equal(summaryOf(paid), 'succeeded');
  });

  test('the limit per day, including payments in progress', async () => {
    const { intentId: first, pass, payer } = await tippedSale();
    await limitPayer(store, payer.id, { perDay: 2 * SALE + TIP });
    const second = await tipped();
    await pay(store, { intentId: first, pass, tip: TIP + 1, hangUp: true });
    assert.equal(summaryOf(await pay(store, { intentId: second, pass })), 'limit_exceeded');
    await playChain(store);
    assert.equal(summaryOf(await pay(store, { intentId: second, pass })), 'limit_exceeded');
    const third = await tipped(SALE - 1);
    assert.equal(summaryOf(await payAndSettle(store, { intentId: third, pass })), 'succeeded');
  });

  test('the rule that requires a confirmation, after which the payer pays both', async () => {
    const own = await addStore(store, clock);
    await setRiskRules(own, { firstPaymentConfirmFrom: atoms(SALE + TIP) });
    const { intentId, pass } = await openSale(own, { amount: SALE, tipping: TIPPING });
    const held = bodyOf(await pay(own, { intentId, pass, tip: TIP }));
    assert.deepEqual([held.status, held.tip], ['requires_action', null]);
    await answerAsPayer(own, intentId);
    assert.deepEqual(await requestedOf(intentId), [String(SALE + TIP)]);
    await playChain(own);
    const payment = await findPayment(own, intentId);
    assert.deepEqual([payment?.amount, payment?.tip], [BigInt(SALE + TIP), BigInt(TIP)]);
  });
});

test('a payment that settles after its decline has the tip of its own attempt', async () => {
  const { intentId, pass } = await tippedSale();
  await pay(store, { intentId, pass, tip: TIP, hangUp: true });
  await playChain(store, 'settlement_failed');
  await settleAfterDecline(store, intentId);
  const payment = await findPayment(store, intentId);
  assert.deepEqual([payment?.amount, payment?.tip], [BigInt(SALE + TIP), BigInt(TIP)]);
});

test('an intent keeps its tipping', async () => {
  const made = see(await intentCreator(store)(newCreate(store, { tipping: TIPPING })));
  assert.deepEqual([made.body.tipping, made.body.tip], [TIPPING, null]);
  const rows = await store.db.query<{ tipping: unknown }>(
    'select tipping from payment_intents where id = $1',
    [made.body.id],
  );
  assert.deepEqual(rows[0]?.tipping, TIPPING);
});

test('a create that repeats a rebuilt intent gets it, although it includes a tip', async () => {
  const rebuilt = async (orderId: string, amount: number) => {
    const { payment_intent_id: paymentIntentId } = await addPayment(store, amount);
    await store.db.query(
      'update payment_intents set recovered = true, order_id = $2 where id = $1',
      [paymentIntentId, orderId],
    );
    return paymentIntentId;
  };
  const create = async (orderId: string, tipping: typeof TIPPING | null) =>
    see(await intentCreator(store)(newCreate(store, { orderId, tipping })));
  const known = await rebuilt('TIPPED', SALE + TIP);
  assert.equal((await create('TIPPED', TIPPING)).body.id, known);
  assert.equal((await create('TIPPED', null)).status, 409);
  await rebuilt('TOO-MUCH', 2 * SALE + 1);
  assert.equal((await create('TOO-MUCH', TIPPING)).status, 409);
});
