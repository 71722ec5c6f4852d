import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { isRefusal } from '#core/answer.ts';
import { systemClock } from '#core/clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { tally } from '#testkit/fixtures/core/tally.ts';
import {
  openSale,
  openStore,
  pay,
  payAndSettle,
  playChain,
  settled,
  summaryOf,
  type TestStore,
} from '#testkit/fixtures/payments/store.ts';
import { addStore, storedStatus } from '#testkit/fixtures/payments/store-payments.ts';
import { answerAsPayer } from '#testkit/fixtures/payments/store-requests.ts';
import { settling } from '#testkit/fixtures/settlement/settling.ts';

const SALE = 2_500_000;
/** A payment of this amount requires the payer's confirmation. */
const HIGH = 50_000_000;

let share: bigint | null = null;
let store: TestStore;

const shared = openForTests(() => openStore({ readiness: { ...settling, shareOf: () => share } }));
beforeEach(async () => {
  share = null;
  store = await addStore(shared, systemClock);
});

async function tap(): Promise<string> {
  const { intentId, pass } = await openSale(store);
  return summaryOf(await pay(store, { intentId, pass }));
}

test('a refusal for a used-up hourly share says when the next hour begins', async () => {
  share = BigInt(SALE * 2);
  assert.equal(await settled(store, tap()), 'succeeded');
  assert.equal(await settled(store, tap()), 'succeeded');
  const { intentId, pass } = await openSale(store);
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
  const paid = await payAndSettle(store, { intentId, pass, key: 'again' });
  assert.equal(summaryOf(paid), 'succeeded', 'the key was left unused');
});

test('one account that uses its share does not reduce the shares of others', async () => {
  share = BigInt(SALE);
  assert.equal(await settled(store, tap()), 'succeeded');
  assert.equal(await tap(), 'service_unavailable');
  store = await addStore(shared, systemClock);
  assert.equal(await settled(store, tap()), 'succeeded');
});

test('of simultaneous taps, as many are accepted as the share allows', async () => {
  share = BigInt(SALE * 2);
  const taps = await settled(store, Promise.all(Array.from({ length: 6 }, tap)));
  assert.deepEqual(tally(taps), { succeeded: 2, service_unavailable: 4 });
});

test('a payment in progress counts, and a declined one does not', async () => {
  share = BigInt(SALE);
  const { intentId, pass } = await openSale(store);
  const waiting = pay(store, { intentId, pass });
  while ((await storedStatus(store, intentId)) !== 'processing');
  assert.equal(await tap(), 'service_unavailable');
  while ((await playChain(store, 'insufficient_funds')) === 0);
  assert.equal(summaryOf(await waiting), 'insufficient_funds');
  assert.equal(await settled(store, tap()), 'succeeded');
});

test('an approval after the share is used up is refused, and may be repeated', async () => {
  const { intentId, pass } = await openSale(store, { amount: HIGH });
  assert.equal(summaryOf(await pay(store, { intentId, pass })), 'requires_action');
  share = BigInt(HIGH - 1);
  const refused = await answerAsPayer(store, intentId);
  assert(isRefusal(refused) && refused.code === 'service_unavailable');
  share = BigInt(HIGH);
  assert(!isRefusal(await answerAsPayer(store, intentId)));
});
