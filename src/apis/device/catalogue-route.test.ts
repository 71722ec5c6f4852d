import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createCatalogueItem } from '#accounts/edit-catalogue.ts';
import type { Tenant } from '#core/mode.ts';
import { openServedStore, type StoreServer } from '#testkit/apis/store-server.ts';
import { accepted } from '#testkit/fixtures/core/accepted.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { addMerchant, type TestStore } from '#testkit/fixtures/payments/store.ts';

let store: TestStore;
let server: StoreServer;

before(async () => {
  ({ store, server } = await openServedStore());
  await putRates(store.db, { eur: '1', usd: '1' }, { now: new Date() });
});
after(() => server.close());

async function addItem(tenant: Tenant, item: { name: string; unit_amount: number }) {
  const ref = { tenant, actor: { type: 'system', name: 'test' } as const, now: new Date() };
  const more = { currency: 'eur', tax_rate: 1_900 };
  accepted(await store.db.transaction((tx) => createCatalogueItem(tx, ref, { ...item, ...more })));
}

/** A line that names no item of the catalog, and has no discount in percent. */
const UNSET = { item: null, category: null, discount_rate: null, discount_name: null };

test('a till reads the catalog of its account and mode, and sells from it', async () => {
  const { tenant } = store.merchant;
  await addItem(tenant, { name: 'Coffee', unit_amount: 350 });
  await addItem(tenant, { name: 'Cake', unit_amount: 420 });
  await addItem({ ...tenant, livemode: true }, { name: 'Live', unit_amount: 1 });
  const other = await addMerchant(store.db, { now: new Date() });
  await addItem(other.tenant, { name: 'Other', unit_amount: 1 });
  const device = server.device();
  const { status, body } = await device.get('/catalogue');
  assert.equal(status, 200);
  const items = body.data as { name: string; unit_amount: number; tax_rate: number }[];
  assert.deepEqual(
    items.map(({ name }) => name),
    ['Coffee', 'Cake'],
  );
  const line_items = items.map(({ name, unit_amount, tax_rate }) => {
    return { name, quantity: 1, unit_amount, tax_rate };
  });
  const sale = { presentment: { currency: 'eur', amount: 770 }, line_items };
  const sold = await device.post('/payment_intents', sale);
  assert.equal(sold.status, 201);
  assert.deepEqual(
    sold.body.line_items,
    line_items.map((line) => ({ ...line, tax_inclusive: true, discount: 0, ...UNSET })),
  );
  const short = { presentment: { currency: 'eur', amount: 769 }, line_items };
  const refused = await device.post('/payment_intents', short);
  const { error } = refused.body;
  assert.deepEqual(
    [refused.status, error?.code, error?.param],
    [400, 'parameter_invalid', 'line_items'],
  );
});
