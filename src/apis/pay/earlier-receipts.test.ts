import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slipOf } from '#apis/pay/receipt-contents.ts';
import { readReceipt } from '#apis/pay/receipt-data-route.ts';
import { receiptText } from '#apis/pay/receipt-plain-text.ts';
import { readRefundSlip } from '#apis/pay/refund-receipt.ts';
import { present } from '#core/assert.ts';
import { writerFor } from '#i18n/text.ts';
import { fillTaxes } from '#payments/fill-taxes.ts';
import { receiptUrl } from '#payments/receipt-url.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { openStore } from '#testkit/fixtures/payments/store.ts';
import { addPayment, refundNow } from '#testkit/fixtures/payments/store-payments.ts';

const store = openForTests(openStore, async () => {
  await putRates(store.db, { eur: '1.085422772171', usd: '1' }, { now: store.clock.now() });
});

const line = (name: string, unit_amount: number, tax_rate: number) => {
  return { name, quantity: 1, unit_amount, tax_rate, tax_inclusive: true, discount: 0 };
};
/** As an earlier release stored them. */
const LINES = {
  lineItems: [
    { ...line('Bread', 1_299, 700), quantity: '0.350' },
    { ...line('Wine', 895, 1_900), quantity: 2, discount: 150 },
    { ...line('Cup', 25, 0), quantity: 3 },
    { ...line('Delivery', 333, 1_900), tax_inclusive: false },
  ],
  discount: 101,
};
/** As that release printed them. */
const PRINTED = [
  { rate: 0, net: 72, tax: 0, gross: 72 },
  { rate: 700, net: 408, tax: 29, gross: 437 },
  { rate: 1_900, net: 1_642, tax: 312, gross: 1_954 },
];

const tokenIn = (url: unknown) => String(url).split('/').at(-1) ?? '';

test('a receipt that an earlier release printed has the same text and taxes', async () => {
  const { db, ctx } = store;
  const payment = await addPayment(store, { currency: 'eur', amount: 2_463 }, LINES);
  const refund = await refundNow(store, { paymentId: payment.id, amount: { minorUnits: 500 } });
  const [sold, back] = [receiptUrl(payment, store.pages), refund.receipt_url].map(tokenIn);
  const read = async () => {
    const receipt = present(await readReceipt(ctx, sold ?? ''), 'receipt');
    const slip = present(await readRefundSlip(ctx, back ?? '', writerFor('en')), 'receipt');
    const texts = [slipOf(receipt), slip].map((one) => receiptText(one, 'http://shop.test', 48));
    return { taxes: receipt.taxes, left: receipt.taxes_left, texts };
  };
  const now = await read();
  assert.deepEqual(now.taxes, PRINTED);
  await db.query('update payments set lines = $2, taxes = null, shop_rate = null where id = $1', [
    payment.id,
    JSON.stringify(LINES),
  ]);
  await db.query('update refunds set taxes = null, shop_rate = null where id = $1', [refund.id]);
  assert.deepEqual(await read(), now);
  await fillTaxes(store);
  assert.deepEqual(await read(), now);
});
