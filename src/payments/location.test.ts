import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selectIntent } from '#payments/intent-queries.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import { createRefund } from '#refunds/create-refund.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import { addLocation, moveTerminal } from '#testing/locations.ts';
import { newRequest, openStore, type TestStore } from '#testing/store.ts';
import { addPayment, playRefunds, see } from '#testing/store-payments.ts';

const PAGE = { limit: 10, after: null, createdGte: null, createdLt: null };

let store: TestStore;
before(async () => {
  store = await openStore();
});
after(() => store.close());

async function addRefund(paymentId: string, amount: number): Promise<string> {
  const asked = createRefund(store.ctx, {
    tenant: store.merchant.tenant,
    keyHash: null,
    idempotency: newRequest(store),
    requestId: 'req_test',
    now: store.clock.now(),
    input: { paymentId, amount, reason: null, metadata: {}, source: 'api' },
  });
  while ((await playRefunds(store)) === 0);
  return String(see(await asked).body.id);
}

test('a sale keeps its location, even if the terminal moves afterwards', async () => {
  const { db } = store;
  const { tenant } = store.merchant;
  const [harbor, market] = [
    await addLocation(store, { name: 'Harbor' }),
    await addLocation(store, { name: 'Market' }),
  ];
  const before = await addPayment(store);
  await moveTerminal(store, harbor);
  const atHarbor = await addPayment(store);
  await moveTerminal(store, market);
  const refund = await addRefund(atHarbor.id, 1_000_000);
  const atMarket = await addPayment(store);
  await moveTerminal(store, null);
  const after = await addPayment(store);
  const sales = [before, atHarbor, atMarket, after];
  assert.deepEqual(
    sales.map(({ locationId }) => locationId),
    [null, harbor, market, null],
  );
  const intent = await selectIntent(db, tenant, atHarbor.paymentIntentId);
  assert.equal(intent?.locationId, harbor);
  const paid = async (id: string | null) =>
    (await selectPaymentPage(db, { tenant, filters: {} }, { ...PAGE, location: id })).map(
      (one) => one.id,
    );
  assert.deepEqual(await paid(harbor), [atHarbor.id]);
  assert.deepEqual(await paid(market), [atMarket.id]);
  assert.deepEqual(await paid(null), [after.id, before.id]);
  const back = async (id: string | null) =>
    (await selectRefundPage(db, { tenant }, { ...PAGE, location: id })).map((one) => one.id);
  assert.deepEqual([await back(harbor), await back(market)], [[refund], []]);
  assert.deepEqual(await back(null), []);
});
