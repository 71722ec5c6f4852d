import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectIntent } from '#payments/intent-queries.ts';
import { selectPaymentPage } from '#payments/payment-queries.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { firstPage } from '#testkit/fixtures/db/first-page.ts';
import { addLocation, moveTerminal } from '#testkit/fixtures/payments/locations.ts';
import { openStore } from '#testkit/fixtures/payments/store.ts';
import { addPayment, refundNow } from '#testkit/fixtures/payments/store-payments.ts';

const store = openForTests(openStore);

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
  const { id: refund } = await refundNow(store, { paymentId: atHarbor.id, amount: 1_000_000 });
  const atMarket = await addPayment(store);
  await moveTerminal(store, null);
  const after = await addPayment(store);
  const sales = [before, atHarbor, atMarket, after];
  assert.deepEqual(
    sales.map(({ location_id: locationId }) => locationId),
    [null, harbor, market, null],
  );
  const intent = await selectIntent(db, tenant, atHarbor.payment_intent_id);
  assert.equal(intent?.location_id, harbor);
  const paid = async (id: string | null) =>
    (await selectPaymentPage(db, { tenant, filters: {} }, { ...firstPage(), location: id })).map(
      (one) => one.id,
    );
  assert.deepEqual(await paid(harbor), [atHarbor.id]);
  assert.deepEqual(await paid(market), [atMarket.id]);
  assert.deepEqual(await paid(null), [after.id, before.id]);
  const back = async (id: string | null) =>
    (await selectRefundPage(db, { tenant }, { ...firstPage(), location: id })).map((one) => one.id);
  assert.deepEqual([await back(harbor), await back(market)], [[refund], []]);
  assert.deepEqual(await back(null), []);
});
