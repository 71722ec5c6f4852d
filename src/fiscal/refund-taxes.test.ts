import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { accountingLines } from '#apis/dashboard/exports/accountant-columns.ts';
import { EXPORTS } from '#apis/dashboard/exports/export-kinds.ts';
import { receiptText } from '#apis/pay/receipt-plain-text.ts';
import { readRefundSlip } from '#apis/pay/refund-receipt.ts';
import { startSigning } from '#fiscal/sign-receipts.ts';
import { writerFor } from '#i18n/text.ts';
import type { Payment } from '#payments/payment.ts';
import { refundReceiptUrl } from '#payments/receipt-url.ts';
import { rebuildRefund } from '#refunds/rebuild-refund.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import type { AskedAmount } from '#refunds/refund-share.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { firstPage } from '#testkit/fixtures/db/first-page.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { openStore, type TestStore } from '#testkit/fixtures/payments/store.ts';
import { addPayment, refundNow } from '#testkit/fixtures/payments/store-payments.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';
import { systemResolver } from '#webhooks/dns-resolver.ts';
import { addressPolicy } from '#webhooks/refuse-private-addresses.ts';

const clock = new FakeClock();
const NETWORK = { policy: addressPolicy([], { ownMachine: true }), resolver: systemResolver() };
const line = (name: string, unit_amount: number, tax_rate: number) => {
  return { name, quantity: 1, unit_amount, tax_rate, tax_inclusive: true, discount: 0 };
};
/** A sale of 15.00 EUR, with 65 cents of tax at 7 % and 80 at 19 %. */
const LINES = { lineItems: [line('Bread', 1_000, 700), line('Wine', 500, 1900)], discount: 0 };
/** The taxes of the sale's two refunds, 5.00 and 10.00 EUR. */
const FIRST = [
  { rate: 700, net: 311, tax: 22, gross: 333 },
  { rate: 1900, net: 140, tax: 27, gross: 167 },
];
const REST = [
  { rate: 700, net: 624, tax: 43, gross: 667 },
  { rate: 1900, net: 280, tax: 53, gross: 333 },
];

let store: TestStore;
let signer: TestReceiver;
before(async () => {
  store = await openStore({ clock });
  signer = await startReceiver();
  signer.answer((_request, response) => void response.end('{"signature":"SIG"}'));
  await store.db.query('update accounts set fiscal_signer = $2 where id = $1', [
    store.merchant.tenant.accountId,
    `${signer.url}/receipts`,
  ]);
});
after(async () => {
  await signer.close();
  await store.close();
});

async function sell(): Promise<Payment> {
  await putRates(store.db, { eur: '1.085422772171', usd: '1' }, { now: clock.now() });
  return addPayment(store, { currency: 'eur', amount: 1_500 }, LINES);
}

const refund = ({ id }: Payment, amount: AskedAmount, failure?: 'insufficient_balance') =>
  refundNow(store, { paymentId: id, amount }, failure);

/** Returns the taxes on the refund's receipt, and the receipt's text. */
async function receiptOf(id: string) {
  const { livemode } = store.merchant.tenant;
  const url = refundReceiptUrl({ id, livemode, status: 'succeeded' }, store.pages) ?? '';
  const slip = await readRefundSlip(store.ctx, url.split('/').at(-1) ?? '', writerFor('en'));
  assert.ok(slip !== null);
  return { shown: slip.document as { taxes: unknown }, text: receiptText(slip, url, 48) };
}

test('parts of a refunded sale have their taxes on receipt, export and at the signer', async () => {
  const payment = await sell();
  await refund(payment, { minorUnits: 700 }, 'insufficient_balance');
  const [first, rest] = [
    await refund(payment, { minorUnits: 500 }),
    await refund(payment, { minorUnits: 1_000 }),
  ];
  const [one, other] = [await receiptOf(String(first.id)), await receiptOf(String(rest.id))];
  assert.deepEqual([one.shown.taxes, other.shown.taxes], [FIRST, REST]);
  assert.match(one.text, /^Tax 7% +€0\.22$/m);
  assert.match(one.text, /^ +Net €1\.40, with tax €1\.67$/m);

  const whose = { tenant: store.merchant.tenant, now: clock.now(), receipts: store.pages };
  const { rows } = await EXPORTS.refunds.read(store.db, whose, firstPage());
  const accounting = { name: 'refunds', rows, timeZone: 'UTC' } as const;
  const lines = await accountingLines(store.db, whose.tenant, accounting);
  const taxes = lines.map((text) => text.split(',').at(-2));
  assert.deepEqual(taxes.toSorted(), ['', '0.49', '0.96']);

  const loop = startSigning(store, NETWORK);
  await signer.waitFor(3);
  await loop.stop();
  const bodies = signer.received.map(({ body }) => JSON.parse(body.toString()));
  const signed = new Map(bodies.map((body) => [body.refund ?? body.payment, body]));
  assert.deepEqual(signed.get(first.id).taxes, FIRST);
  assert.deepEqual(signed.get(rest.id).taxes, REST);
  assert.deepEqual(
    [signed.get(first.id).line_items, signed.get(first.id).amount],
    [null, first.amount],
  );
});

test('a refund rebuilt from the chain has its sum in the currency, and taxes', async () => {
  const payment = await sell();
  const { tenant } = store.merchant;
  const amount = payment.amount / 3n;
  const by = { idKey: store.idKey, receipts: store.pages, now: clock.now() };
  const reference = Buffer.alloc(16, 9);
  const txHash = `0x${'ab'.repeat(32)}`;
  const blockTime = clock.now();
  const lost = { tenant, paymentId: payment.id, reference, amount, txHash, blockTime };
  await store.db.transaction((tx) => rebuildRefund(tx, lost, by));
  const search = { tenant, paymentId: payment.id };
  const [rebuilt] = await selectRefundPage(store.db, search, firstPage());
  assert.equal(rebuilt?.presentment?.amount, 500);
  assert.deepEqual((await receiptOf(rebuilt?.id ?? '')).shown.taxes, FIRST);
  const { id } = await refund(payment, null);
  assert.deepEqual((await receiptOf(String(id))).shown.taxes, REST);
});
