import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createIntent } from '#payments/create-intent.ts';
import type { CreateRequest, NewIntent } from '#payments/price-new-intent.ts';
import { readIntent } from '#payments/read-intents-together.ts';
import { renderIntent, renderPayment } from '#payments/render.ts';
import type { AskedLine } from '#prices/check-asked-lines.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { intentCreator, openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import {
  addStore,
  lastSnapshot,
  newCreate,
  payNow,
  see,
} from '#testkit/fixtures/payments/store-payments.ts';

const clock = new FakeClock();
const store = openForTests(
  () => openStore({ clock }),
  async () => {
    await putRates(store.db, { eur: '1', usd: '1' }, { now: clock.now() });
  },
);

const create = async (request: CreateRequest) => see(await createIntent(store.ctx, request));

async function setTaxes(at: TestStore, rates: object, includesTax: boolean): Promise<void> {
  await at.db.query(
    'update accounts set tax_rates = $2::text::jsonb, prices_include_tax = $3 where id = $1',
    [at.merchant.tenant.accountId, JSON.stringify(rates), includesTax],
  );
}

const sells = (
  amount: NewIntent['amount'],
  lineItems: readonly AskedLine[],
  discount = 0,
): Partial<NewIntent> => ({ amount, lines: { lineItems, discount } });

/** The fields of a line that was sold without an item, and without a discount by rate. */
const PLAIN = { discount_rate: null, discount_name: null, item: null, category: null };
const COFFEE = { name: 'Coffee', quantity: 2, unit_amount: 350, tax_rate: 'Drinks' };
const HAM = { name: 'Ham', quantity: '0.350', unit_amount: 1_290, tax_rate: 700, discount: 2 };
/** Coffee: 700 minus 30. Ham: 450 minus 20, plus tax of 30. */
const EUROS = { currency: 'eur', amount: 1_130 };

test("lines are stored as they were sent, with the account's settings at that time", async () => {
  await setTaxes(store, [{ name: 'Drinks', rate: 1_900 }], true);
  const lines = [COFFEE, { ...HAM, tax_inclusive: false }];
  const request = newCreate(store, sells(EUROS, lines, 50));
  const { status, body } = await create(request);
  assert.equal(status, 201);
  const shown = [
    { ...COFFEE, tax_rate: 1_900, tax_inclusive: true, discount: 0, ...PLAIN },
    { ...HAM, tax_inclusive: false, ...PLAIN },
  ];
  assert.deepEqual([body.line_items, body.discount], [shown, 50]);
  assert.deepEqual(await lastSnapshot(store, 'payment_intent.created'), body);

  // The account's tax settings change after the sale.
  await setTaxes(store, [{ name: 'Food', rate: 500 }], false);
  const replay = await create(request);
  assert.deepEqual([replay.replayed, replay.body], [true, body]);
  const unknown = await create(newCreate(store, sells(EUROS, lines, 50)));
  assert.deepEqual([unknown.status, unknown.said], [400, 'parameter_invalid']);

  const payment = await payNow(store, String(body.id));
  const read = await readIntent(store.ctx, store.merchant.tenant, payment.payment_intent_id);
  assert.ok(read?.status === 'succeeded');
  const intent = renderIntent(read);
  assert.deepEqual([intent.line_items, intent.discount], [shown, 50]);
  const paid = renderPayment(payment, store.pages);
  assert.deepEqual([paid.line_items, paid.discount], [shown, 50]);
  const told = await lastSnapshot(store, 'payment.succeeded');
  assert.deepEqual([told?.line_items, told?.discount], [shown, 50]);
});

test('a sale in USDC has lines in atoms; one without lines has none', async () => {
  await setTaxes(store, [], false);
  const sale = { name: 'API call', quantity: 3, unit_amount: 333_333, tax_rate: 0 };
  const { status, body } = await create(newCreate(store, sells(999_999, [sale])));
  assert.equal(status, 201);
  assert.deepEqual(body.line_items, [{ ...sale, ...PLAIN, tax_inclusive: false, discount: 0 }]);
  const none = await create(newCreate(store));
  assert.deepEqual([none.body.line_items, none.body.discount], [null, 0]);
});

test("each sale of a batch uses its own account's settings", async () => {
  const other = await addStore(store, clock);
  await setTaxes(store, [{ name: 'Drinks', rate: 1_000 }], true);
  await setTaxes(other, [{ name: 'Drinks', rate: 2_000 }], false);
  const line = { ...COFFEE, quantity: 1, unit_amount: 1_000 };
  const by = intentCreator(store);
  const requests = [
    newCreate(store, sells(1_000, [line])),
    newCreate(other, sells(1_200, [line])),
    newCreate(other, sells(1_000, [line])),
  ];
  const seen = (await Promise.all(requests.map(by))).map(see);
  assert.deepEqual(
    seen.map(({ status, body }) => [status, body.line_items]),
    [
      [201, [{ ...line, ...PLAIN, tax_rate: 1_000, tax_inclusive: true, discount: 0 }]],
      [201, [{ ...line, ...PLAIN, tax_rate: 2_000, tax_inclusive: false, discount: 0 }]],
      [400, undefined],
    ],
  );
});

test('lines that do not add up to the price are refused before a rate is read', async () => {
  clock.advance(200_000);
  const line = { ...COFFEE, tax_rate: 0, quantity: 1 };
  const late = (amount: number) =>
    create(newCreate(store, sells({ currency: 'eur', amount }, [line])));
  assert.equal((await late(351)).said, 'parameter_invalid');
  assert.equal((await late(350)).said, 'rates_unavailable');
});
