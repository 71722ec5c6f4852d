import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { systemClock } from '#core/clock.ts';
import { answerConfirmation } from '#payments/answer-confirmation.ts';
import {
  addIntent,
  addPayer,
  keepSettling,
  openStore,
  pay,
  playChain,
  summaryOf,
  type TestStore,
} from '#testing/store.ts';
import { addStore } from '#testing/store-payments.ts';

const SALE = 2_500_000;
/** A payment of this amount requires the payer's confirmation. */
const HIGH = 50_000_000;

let share: bigint | null = null;
let shared: TestStore;
let store: TestStore;

before(async () => {
  const readiness = {
    of: () => ({ settles: true, reasons: [] }),
    paymentsLeft: () => null,
    shareOf: () => share,
  };
  shared = await openStore({ readiness });
});
beforeEach(async () => {
  share = null;
  store = await addStore(shared, systemClock);
});
after(() => shared.close());

async function tap(amount = SALE): Promise<string> {
  const { pass } = await addPayer(store);
  return summaryOf(await pay(store, { intentId: await addIntent(store, { amount }), pass }));
}

async function settled<T>(work: () => Promise<T>): Promise<T> {
  const settling = keepSettling(store);
  try {
    return await work();
  } finally {
    await settling.stop();
  }
}

test('a refusal for a used-up hourly share says when the next hour begins', async () => {
  share = BigInt(SALE * 2);
  assert.equal(await settled(() => tap()), 'succeeded');
  assert.equal(await settled(() => tap()), 'succeeded');
  const { pass } = await addPayer(store);
  const intentId = await addIntent(store);
  const refused = await pay(store, { intentId, pass, key: 'again' });
  assert(isRefusal(refused));
  assert.equal(refused.code, 'service_unavailable');
  const next = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000).toISOString();
  assert(refused.message.includes(`The next hour begins at ${next}`), refused.message);
  const rows = await store.db.query('select id from chain_requests where subject_id = $1', [
    intentId,
  ]);
  assert.deepEqual(rows, [], 'nothing was done');
  share = BigInt(SALE * 3);
  const paid = await settled(() => pay(store, { intentId, pass, key: 'again' }));
  assert.equal(summaryOf(paid), 'succeeded', 'the key was left unused');
});

test('one account that uses its share does not reduce the shares of others', async () => {
  share = BigInt(SALE);
  assert.equal(await settled(() => tap()), 'succeeded');
  assert.equal(await tap(), 'service_unavailable');
  store = await addStore(shared, systemClock);
  assert.equal(await settled(() => tap()), 'succeeded');
});

test('of simultaneous taps, as many are accepted as the share allows', async () => {
  share = BigInt(SALE * 2);
  const taps = await settled(() => Promise.all(Array.from({ length: 6 }, () => tap())));
  assert.equal(taps.filter((one) => one === 'succeeded').length, 2, String(taps));
  assert.equal(taps.filter((one) => one === 'service_unavailable').length, 4, String(taps));
});

test('a payment in progress counts, and a declined one does not', async () => {
  share = BigInt(SALE);
  const { pass } = await addPayer(store);
  const intentId = await addIntent(store);
  const waiting = pay(store, { intentId, pass });
  for (;;) {
    const [row] = await store.db.query<{ status: string }>(
      'select status from payment_intents where id = $1',
      [intentId],
    );
    if (row?.status === 'processing') break;
  }
  assert.equal(await tap(), 'service_unavailable');
  while ((await playChain(store, 'insufficient_funds')) === 0);
  assert.equal(summaryOf(await waiting), 'insufficient_funds');
  assert.equal(await settled(() => tap()), 'succeeded');
});

test('an approval after the share is used up is refused, and may be repeated', async () => {
  const { pass } = await addPayer(store);
  const intentId = await addIntent(store, { amount: HIGH });
  assert.equal(summaryOf(await pay(store, { intentId, pass })), 'requires_action');
  share = BigInt(HIGH - 1);
  const yes = { intentId, mayAnswer: () => true, approve: true, now: systemClock.now() };
  const refused = await answerConfirmation(store.ctx, yes);
  assert(isRefusal(refused) && refused.code === 'service_unavailable');
  share = BigInt(HIGH);
  assert(!isRefusal(await answerConfirmation(store.ctx, yes)));
});
