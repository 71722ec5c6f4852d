import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCatalogueItem } from '#accounts/edit-catalogue.ts';
import { selectLookOfIntent, selectLookOfReceipt } from '#apis/pay/brand-queries.ts';
import { sellerOf } from '#apis/pay/receipt-items.ts';
import { dayIn } from '#core/calendar.ts';
import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { writerFor } from '#i18n/text.ts';
import { selectReceipt, selectRefundReceipt } from '#payments/receipt-queries.ts';
import { selectTaggedTerminal } from '#terminals/provisioning-queries.ts';
import { keepRefunding } from '#testkit/apis/api-objects.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { addLocation, moveTerminal } from '#testkit/fixtures/payments/locations.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { addMerchant, addTerminal, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { addPayment } from '#testkit/fixtures/payments/store-payments.ts';

/**
 * Tests that a till at a location uses the location's time zone, currency, language and tax rates.
 */

let store: TestStore;
let server: StoreServer;
let kiritimati = '';

before(async () => {
  ({ store, server } = await openServedStore());
  await putRates(store.db, { eur: '1', jpy: '1' }, { now: new Date() });
  await store.db.query(
    `update accounts set time_zone = 'America/Los_Angeles', language = 'en', currency = 'eur',
       default_tax_rate = 'Standard', address = '1 Head Office', tax_rates = $2 where id = $1`,
    [
      store.merchant.tenant.accountId,
      JSON.stringify([
        { name: 'Standard', rate: 1_900 },
        { name: 'Food', rate: 700 },
        { name: 'Books', rate: 700 },
      ]),
    ],
  );
  kiritimati = await addLocation(store, {
    name: 'Harbor',
    address: '2 Quay',
    time_zone: 'Pacific/Kiritimati',
    currency: 'jpy',
    language: 'ja',
    tax_rates: [
      { name: 'Standard', rate: 1_000 },
      { name: 'Food', rate: 800 },
      { name: 'Books', rate: 500 },
    ],
  });
});
after(() => server.close());

async function settingsOf(till = server.device()) {
  const { time_zone, currency, language } = (await till.get('/terminal')).body;
  return { time_zone, currency, language };
}

const OWN = { time_zone: 'America/Los_Angeles', currency: 'eur', language: 'en' };

test('a till uses the settings of its location, and otherwise those of its account', async () => {
  assert.deepEqual(await settingsOf(), OWN);
  await moveTerminal(store, kiritimati);
  assert.deepEqual(await settingsOf(), {
    ...{ time_zone: 'Pacific/Kiritimati', currency: 'jpy', language: 'ja' },
  });
  const bare = await addLocation(store, { name: 'Stand' });
  await moveTerminal(store, bare);
  assert.deepEqual(await settingsOf(), OWN);
});

test("a till's days begin and end in the time zone of its location", async () => {
  const today = async () => {
    const { from, time_zone } = (await server.device().get('/totals')).body;
    return [from, time_zone];
  };
  // These zones have the same date for at most one hour a day. Even then, the returned zone
  // differs.
  for (const [location, zone] of [
    [null, 'America/Los_Angeles'],
    [kiritimati, 'Pacific/Kiritimati'],
  ] as const) {
    await moveTerminal(store, location);
    assert.deepEqual(await today(), [dayIn(zone, store.clock.now()), zone]);
  }
});

const item = { name: 'Tea', quantity: 1, unit_amount: 1_000_000 };
const rateOf = ({ body }: { readonly body: Record<string, unknown> }) =>
  (body.line_items as { readonly tax_rate: number }[])[0]?.tax_rate;

test('a till offers discounts that are sums only in the currency that they count', async () => {
  const discounts = [
    { name: 'Voucher', amount: 500 },
    { name: 'Staff', rate: 5_000 },
  ];
  const set = 'update accounts set discounts = $2 where id = $1';
  await store.db.query(set, [store.merchant.tenant.accountId, JSON.stringify(discounts)]);
  const offered = async () => (await server.device().get('/terminal')).body.discounts;
  await moveTerminal(store, null);
  assert.deepEqual(await offered(), discounts);
  await moveTerminal(store, kiritimati);
  assert.deepEqual(await offered(), [discounts[1]]);
});

test('a named tax rate is the location’s, from a till and from a server', async () => {
  const merchant = await server.merchant();
  const ofTill = async () => (await server.device().get('/terminal')).body.default_tax_basis_points;
  const sale = { amount: 1_000_000, line_items: [{ ...item, tax_rate: 'Standard' }] };
  const sell = () => server.device().post('/payment_intents', sale);
  const send = () => merchant.post('/payment_intents', { ...sale, terminal: store.terminalId });
  await moveTerminal(store, null);
  assert.deepEqual(
    [rateOf(await sell()), rateOf(await send()), await ofTill()],
    [1_900, 1_900, 1_900],
  );
  await moveTerminal(store, kiritimati);
  assert.deepEqual(
    [rateOf(await sell()), rateOf(await send()), await ofTill()],
    [1_000, 1_000, 1_000],
  );
  const only = await addLocation(store, { name: 'Fair', tax_rates: [{ name: 'Fair', rate: 0 }] });
  await moveTerminal(store, only);
  const refused = await sell();
  assert.deepEqual(
    [refused.status, refused.body.error?.param],
    [400, 'line_items.0.tax_rate'],
    'the location has no rate of that name',
  );
  assert.equal(await ofTill(), null);
});

test('a terminal of another account does not apply the rates of its location', async () => {
  await moveTerminal(store, kiritimati);
  const other = await addMerchant(store.db, { now: store.clock.now() });
  const { deviceKey } = await addTerminal(store.db, other, store.clock.now());
  const line_items = [{ ...item, tax_rate: 'Standard' }];
  const sale = { amount: 1_000_000, line_items };
  const refused = await server.device(deviceKey).post('/payment_intents', sale);
  assert.equal(refused.body.error?.param, 'line_items.0.tax_rate');
  await store.db.query('update terminals set location_id = $1 where account_id = $2', [
    kiritimati,
    other.tenant.accountId,
  ]);
  const still = await server.device(deviceKey).post('/payment_intents', sale);
  assert.equal(still.body.error?.param, 'line_items.0.tax_rate', 'not even by a broken row');
  assert.notEqual((await settingsOf(server.device(deviceKey))).currency, 'jpy');
});

test('the catalog of a till uses the location’s tax rates of the same names', async () => {
  const { tenant } = store.merchant;
  const ref = { tenant, actor: { type: 'system', name: 'test' } as const, now: new Date() };
  for (const [name, tax_rate] of [
    ['Named', 1_900],
    ['Unnamed', 1_234],
    ['Of two names', 700],
  ] as const) {
    const made = { name, unit_amount: 1, currency: 'eur', tax_rate };
    await store.db.transaction((tx) => createCatalogueItem(tx, ref, made));
  }
  const rates = async () => {
    const { body } = await server.device().get('/catalogue');
    return (body.data as { tax_rate: number }[]).map(({ tax_rate }) => tax_rate);
  };
  await moveTerminal(store, null);
  assert.deepEqual(await rates(), [1_900, 1_234, 700]);
  await moveTerminal(store, kiritimati);
  assert.deepEqual(await rates(), [1_000, 1_234, 700]);
});

test('customers of a location read its language, address and time', async () => {
  await moveTerminal(store, kiritimati);
  const sold = await addPayment(store);
  await moveTerminal(store, null);
  const elsewhere = await addPayment(store);
  const { db } = store;
  const look = async ({
    payment_intent_id: paymentIntentId,
    settlement_number: number,
  }: typeof sold) => [
    (await selectLookOfIntent(db, paymentIntentId))?.language,
    (await selectLookOfReceipt(db, { livemode: false, number }))?.language,
  ];
  assert.deepEqual(
    [await look(sold), await look(elsewhere)],
    [
      ['ja', 'ja'],
      ['en', 'en'],
    ],
  );
  const [{ tag } = { tag: '' }] = await db.query<{ tag: string }>(
    'select tag from terminals where id = $1',
    [store.terminalId],
  );
  assert.equal((await selectTaggedTerminal(db, tag))?.language, 'en');
  await moveTerminal(store, kiritimati);
  assert.equal((await selectTaggedTerminal(db, tag))?.language, 'ja');
  const receiptOf = async ({ settlement_number: number }: typeof sold) => {
    const receipt = await selectReceipt(db, { livemode: false, number });
    assert.ok(receipt !== null);
    return [receipt.timeZone, ...sellerOf(receipt.merchant, writerFor('en')).map(withoutIsolates)];
  };
  assert.deepEqual(await receiptOf(sold), [
    ...['Pacific/Kiritimati', '1 Head Office', 'Harbor', '2 Quay'],
  ]);
  assert.deepEqual(await receiptOf(elsewhere), ['America/Los_Angeles', '1 Head Office']);
});

test('the receipt of a refund names the location of the sale', async () => {
  await moveTerminal(store, kiritimati);
  const { id: payment } = await addPayment(store);
  await moveTerminal(store, null);
  const refunding = keepRefunding(store);
  const merchant = await server.merchant();
  const { body } = await merchant.post('/refunds', { payment, amount: 1 });
  await refunding.stop();
  const id = String(body.id);
  const receipt = await selectRefundReceipt(store.db, { livemode: false, id });
  assert.deepEqual(receipt?.merchant.location, { name: 'Harbor', address: '2 Quay' });
  assert.equal(receipt?.time_zone, 'Pacific/Kiritimati');
});
