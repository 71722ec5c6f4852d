import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { fillTaxes } from '#payments/fill-taxes.ts';
import { selectIntent } from '#payments/intent-queries.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import type { AskedLines } from '#prices/check-asked-lines.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { addLocation, moveTerminal } from '#testkit/fixtures/payments/locations.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import {
  addPayment,
  addStore,
  lastData,
  lastSnapshot,
  refundNow,
} from '#testkit/fixtures/payments/store-payments.ts';

const FILL_FEES = new URL('../../migrations/0051_intent_fees.sql', import.meta.url);

const clock = new FakeClock();
const LINES: AskedLines = {
  discount: 0,
  lineItems: [
    { name: 'Bread', quantity: 1, unit_amount: 1_000, tax_rate: 700, tax_inclusive: true },
    { name: 'Wine', quantity: 1, unit_amount: 500, tax_rate: 1_900, tax_inclusive: true },
  ],
};
const TAXES = [
  { rate: 700, net: 935, tax: 65, gross: 1_000 },
  { rate: 1_900, net: 420, tax: 80, gross: 500 },
];

const shared = openForTests(
  () => openStore({ clock }),
  async () => {
    const rates = { eur: '1.085422772171', jpy: '0.0065', usd: '1' };
    await putRates(shared.db, rates, { now: clock.now() });
  },
);

async function storeIn(currency: string | null): Promise<TestStore> {
  const store = await addStore(shared, clock);
  const { accountId } = store.merchant.tenant;
  await store.db.query('update accounts set currency = $2 where id = $1', [accountId, currency]);
  return store;
}

test("a payment stores its tax table, and the rate of the shop's currency", async () => {
  const store = await storeIn('eur');
  await store.db.query(`update exchange_rates set closed_margin = 100, market_at = $1`, [
    new Date(clock.now().getTime() - 7_200_000),
  ]);
  const payment = await addPayment(store, { currency: 'eur', amount: 1_500 }, LINES);
  assert.deepEqual(payment.taxes, TAXES);
  // The rate of the sale includes the margin of a closed market, and the shop's rate does not.
  assert.equal(payment.presentment?.rate, '1.096276999893');
  assert.equal(payment.shop_rate, '1.085422772171');
  const event = await lastSnapshot(store, 'payment.succeeded');
  assert.deepEqual([event.taxes, event.shop_rate], [TAXES, payment.shop_rate]);
});

test('the currency of the location comes first; without a currency there is no rate', async () => {
  const store = await storeIn('eur');
  await moveTerminal(store, await addLocation(store, { name: 'Tokyo', currency: 'jpy' }));
  assert.equal((await addPayment(store)).shop_rate, '0.0065');
  assert.equal((await addPayment(await storeIn(null))).shop_rate, null);
  assert.equal((await addPayment(await storeIn('kwd'))).shop_rate, null);
});

test('a refund stores its taxes when it is created, and the rate when it succeeds', async () => {
  const store = await storeIn('eur');
  const payment = await addPayment(store, { currency: 'eur', amount: 1_500 }, LINES);
  await putRates(store.db, { eur: '1.1' }, { now: clock.now() });
  const refund = await refundNow(store, { paymentId: payment.id, amount: { minorUnits: 500 } });
  const taxes = [
    { rate: 700, net: 311, tax: 22, gross: 333 },
    { rate: 1_900, net: 140, tax: 27, gross: 167 },
  ];
  assert.deepEqual([refund.taxes, refund.shop_rate], [taxes, '1.1']);
  const created = await lastSnapshot(store, 'refund.created');
  assert.deepEqual([created.taxes, created.shop_rate], [taxes, null]);
  const updated = await lastData(store, 'refund.updated');
  assert.equal(updated.previous_attributes?.shop_rate, null);
  const request = { paymentId: payment.id, amount: null };
  const failed = await refundNow(store, request, 'insufficient_balance');
  assert.deepEqual([failed.status, failed.shop_rate], ['failed', null]);
});

test('sales of an earlier release get the taxes that their receipts show', async () => {
  const store = await storeIn('eur');
  const sale = { currency: 'eur', amount: 1_500 };
  const [old, plain] = [await addPayment(store, sale, LINES), await addPayment(store)];
  await store.db.query('update payments set taxes = null, shop_rate = null where id = $1', [
    old.id,
  ]);
  const read = async () => {
    const result = await selectPayment(store.db, store.merchant.tenant, old.id);
    assert.ok(result !== null);
    return result;
  };
  const shown = renderPayment(await read(), store.pages);
  assert.deepEqual([shown.taxes, shown.shop_rate], [TAXES, null]);
  assert.equal(await fillTaxes(store), false);
  assert.deepEqual([(await read()).taxes, (await read()).shop_rate], [TAXES, null]);
  assert.equal(plain.taxes, null);
  const left = await store.db.query(
    'select from payments where lines is not null and taxes is null',
    [],
  );
  assert.equal(left.length, 0);
});

test('an intent that an earlier release settled shows the total of its payment', async () => {
  const store = await storeIn('eur');
  const payment = await addPayment(store, { currency: 'eur', amount: 1_500 });
  const { payment_intent_id: id } = payment;
  const read = () => selectIntent(store.db, store.merchant.tenant, id);
  await store.db.query(`update payment_intents set attempt = attempt - 'fees' where id = $1`, [id]);
  const before = renderIntent(present(await read(), 'intent')).presentment;
  assert.equal((before as { total: unknown }).total, null);
  const statement = readFileSync(FILL_FEES, 'utf8');
  let cursor: string | null = null;
  do {
    const rows: { cursor: string | null }[] = await store.db.query(statement, [cursor]);
    cursor = rows[0]?.cursor ?? null;
  } while (cursor !== null);
  const { presentment } = renderPayment(payment, store.pages);
  assert.deepEqual(renderIntent(present(await read(), 'intent')).presentment, presentment);
});
