import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selectShopSettings, updateShopSettings } from '#accounts/shop-settings.ts';
import type { Caller } from '#testkit/apis/api-client.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { tap } from '#testkit/apis/tap.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { addPayer, type TestStore } from '#testkit/fixtures/payments/store.ts';

/** Tests sums in the shop's currency through the API: discounts by rate, refunds, and totals. */

let store: TestStore;
let server: StoreServer;
let till: Caller;

before(async () => {
  ({ store, server, device: till } = await openServedStore({ settles: true, refunds: true }));
  const rates = { eur: '1.08542277217', jpy: '0.006563833279', kwd: '3.255208333333', usd: '1' };
  await putRates(store.db, rates, { now: store.clock.now() });
});
after(() => server.close());

const line = (unit_amount: number, tax_rate: number, more: object = {}) => {
  return { name: 'x', quantity: 1, unit_amount, tax_rate, tax_inclusive: true, ...more };
};

/** A discount of this rate on this line. */
const DISCOUNTS = [
  { currency: 'kwd', rate: 750, line: line(1_255, 500), discount: 94, amount: 1_161 },
  {
    currency: 'jpy',
    rate: 1_000,
    line: line(333, 1_000, { quantity: 3 }),
    discount: 100,
    amount: 899,
  },
  { currency: 'eur', rate: 1_000, line: line(1_910, 700), discount: 191, amount: 1_719 },
] as const;

for (const { currency, amount, rate, discount, line } of DISCOUNTS) {
  test(`${rate / 100} % of ${amount + discount} ${currency} is ${discount}`, async () => {
    const presentment = { currency, amount };
    const ofLine = { presentment, line_items: [{ ...line, discount: { rate } }] };
    const { status, body } = await till.post('/payment_intents', ofLine);
    assert.equal(status, 201, JSON.stringify(body));
    const [sold] = body.line_items as { discount: number; discount_rate: number }[];
    assert.deepEqual([sold?.discount, sold?.discount_rate], [discount, rate]);
    const ofSale = { presentment, line_items: [line], discount: { rate } };
    const { body: whole } = await till.post('/payment_intents', ofSale);
    assert.deepEqual([whole.discount, whole.discount_rate], [discount, rate]);
    const more = { ...ofLine, presentment: { currency, amount: amount + 1 } };
    const refused = await till.post('/payment_intents', more);
    assert.deepEqual([refused.status, refused.body.error?.param], [400, 'line_items']);
  });
}

interface Taxed {
  readonly gross: number;
}

test('refunds of a sum take from each rate and the tip, and totals add their taxes', async () => {
  const sale = {
    presentment: { currency: 'eur', amount: 1_976 },
    line_items: [line(1_216, 700), line(760, 1_900)],
    tipping: { percentages: [10] },
  };
  const { body: intent } = await till.post('/payment_intents', sale);
  const { pass } = await addPayer(store);
  const { body: paid } = await tap(till, intent.id, pass, { tip: 2_144_795 });
  const taxes = [
    { rate: 700, net: 1_136, tax: 80, gross: 1_216 },
    { rate: 1_900, net: 639, tax: 121, gross: 760 },
  ];
  const of = { payment: paid.payment };
  const { body: first } = await till.post('/refunds', { ...of, presentment_amount: 500 });
  const part = [
    { rate: 700, net: 261, tax: 18, gross: 279 },
    { rate: 1_900, net: 147, tax: 28, gross: 175 },
  ];
  const { amount } = first.presentment as { amount: number };
  assert.deepEqual([first.taxes, amount], [part, 500]);
  assert.equal(amount - part.reduce((sum, { gross }) => sum + gross, 0), 46, 'of the tip');
  const refunded = async () => (await till.get('/totals')).body.refunded_taxes;
  const inEuros = (rows: readonly Taxed[]) => rows.map((row) => ({ currency: 'eur', ...row }));
  assert.deepEqual(await refunded(), inEuros(part));
  const { body: rest } = await till.post('/refunds', of);
  assert.equal((rest.presentment as { amount: number }).amount, 1_674);
  assert.deepEqual(await refunded(), inEuros(taxes));
  assert.deepEqual((await till.get('/totals')).body.taxes, inEuros(taxes));
});

test('a till reads the discounts, the default tax rate and the tips of its account', async () => {
  const { accountId } = store.merchant.tenant;
  const shown = async () => {
    const { body } = await till.get('/terminal');
    const { discounts, default_tax_rate, default_tax_basis_points, tip_percentages } = body;
    return { discounts, default_tax_rate, default_tax_basis_points, tip_percentages };
  };
  const noTax = { default_tax_rate: null, default_tax_basis_points: null };
  assert.deepEqual(await shown(), { discounts: [], ...noTax, tip_percentages: [10, 15, 20] });
  const set = {
    discounts: [
      { name: 'Staff', rate: 10_000 },
      { name: 'Voucher', amount: 500 },
    ],
    default_tax_rate: 'Food',
    tip_percentages: [5, 50],
  };
  await store.db.transaction(async (tx) => {
    const settings = await selectShopSettings(tx, accountId);
    const tax_rates = [{ name: 'Food', rate: 700 }];
    await updateShopSettings(tx, accountId, { ...settings, ...set, tax_rates });
  });
  assert.deepEqual(await shown(), { ...set, default_tax_basis_points: 700 });
});
