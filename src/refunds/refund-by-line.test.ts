import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refundAskedFor } from '#apis/merchant/refund-schema.ts';
import { receiptText } from '#apis/pay/receipt-plain-text.ts';
import { readRefundSlip } from '#apis/pay/refund-receipt.ts';
import { isRefusal } from '#core/answer.ts';
import { writerFor } from '#i18n/text.ts';
import { selectPayment } from '#payments/payment-queries.ts';
import { refundReceiptUrl } from '#payments/receipt-url.ts';
import type { AskedLines } from '#prices/check-asked-lines.ts';
import { selectRefundPage } from '#refunds/refund-queries.ts';
import { estimate } from '#refunds/refund-share.ts';
import { FakeClock } from '#testkit/fixtures/core/fake-clock.ts';
import { openForTests } from '#testkit/fixtures/core/open-for-tests.ts';
import { firstPage } from '#testkit/fixtures/db/first-page.ts';
import { putRates } from '#testkit/fixtures/payments/rates.ts';
import { openStore } from '#testkit/fixtures/payments/store.ts';
import {
  addPayment,
  type JsonObject,
  lastSnapshot,
  playRefunds,
  refundNow,
  see,
} from '#testkit/fixtures/payments/store-payments.ts';
import { refund } from '#testkit/fixtures/payments/store-requests.ts';

const clock = new FakeClock();
/** 2 × 3.80 and 12.16 less 10 %. */
const CAFE: AskedLines = {
  discount: { rate: 1_000 },
  discountName: 'Regulars',
  lineItems: [
    { name: 'Coffee', quantity: 2, unit_amount: 380, tax_rate: 1_900, tax_inclusive: true },
    { name: 'Cake', quantity: 1, unit_amount: 1_216, tax_rate: 700, tax_inclusive: true },
  ],
};
const EUROS = { currency: 'eur', amount: 1_778 };
const COFFEE = [{ rate: 1_900, net: 287, tax: 55, gross: 342 }];

const store = openForTests(
  () => openStore({ clock }),
  async () => {
    await putRates(store.db, { eur: '1.085422772171', usd: '1' }, { now: clock.now() });
  },
);

const part = (line: number, quantity: number | string = 1) => ({ line, quantity });
const request = (paymentId: string, ...lineItems: ReturnType<typeof part>[]) => {
  return { paymentId, amount: { lineItems } };
};
const sumOf = ({ presentment }: JsonObject) => (presentment as { amount: number }).amount;

test('a refund by line returns the value of the line, with its taxes, in every form', async () => {
  const payment = await addPayment(store, EUROS, CAFE);
  const first = await refundNow(store, request(payment.id, part(0)));
  assert.deepEqual([sumOf(first), first.line_items, first.taxes], [342, [part(0)], COFFEE]);
  const event = await lastSnapshot(store, 'refund.succeeded');
  assert.deepEqual([event.line_items, event.taxes], [[part(0)], COFFEE]);
  const { livemode } = store.merchant.tenant;
  const receipt = { id: String(first.id), livemode, status: 'succeeded' } as const;
  const url = refundReceiptUrl(receipt, store.pages) ?? '';
  const slip = await readRefundSlip(store.ctx, url.split('/').at(-1) ?? '', writerFor('en'));
  assert.ok(slip !== null);
  assert.match(receiptText(slip, url, 48), /^Coffee +€3\.42$/m);
  const shown = slip.document as { line_items: unknown; taxes: unknown };
  assert.deepEqual(shown.taxes, COFFEE);
  const coffee = { name: 'Coffee', unit_amount: 380, tax_rate: 1_900, tax_inclusive: true };
  assert.deepEqual(shown.line_items, [{ ...part(0), ...coffee, amount: 342 }]);
});

test('a line is returned once, and a refund that failed returned nothing of it', async () => {
  const payment = await addPayment(store, EUROS, CAFE);
  const failed = await refundNow(store, request(payment.id, part(0, 2)), 'insufficient_balance');
  assert.equal(failed.status, 'failed');
  assert.equal(sumOf(await refundNow(store, request(payment.id, part(0, 2)))), 684);
  const again = see(await refund(store, request(payment.id, part(0))));
  assert.deepEqual([again.status, again.said], [400, 'amount_too_large']);
  const rest = await refundNow(store, request(payment.id, part(1)));
  assert.equal(sumOf(rest), 1_094);
  const after = await selectPayment(store.db, store.merchant.tenant, payment.id);
  assert.equal(after?.amount_refunded, payment.amount);
});

test('a sale in USDC returns its lines in atoms', async () => {
  const lines = { lineItems: [{ ...CAFE.lineItems[0], name: 'Call', quantity: 3 }], discount: 0 };
  const payment = await addPayment(store, 1_140, lines as AskedLines);
  // Limits that are checked before the decision count the lines, not the whole sale.
  assert.equal(estimate(payment, request(payment.id, part(0)).amount), 380n);
  const first = await refundNow(store, request(payment.id, part(0)));
  assert.deepEqual([first.amount, first.presentment, first.line_items], [380, null, [part(0)]]);
});

test('an estimate is at most the payment, whatever was requested', async () => {
  const [cafe, plain] = [await addPayment(store, EUROS, CAFE), await addPayment(store)];
  const most = 999_999_999_999;
  assert.equal(estimate(cafe, { lineItems: [part(0, most)] }), cafe.amount);
  assert.equal(estimate(cafe, { minorUnits: 10 ** 15 }), cafe.amount);
  assert.equal(estimate(plain, { lineItems: [part(0, most)] }), 0n);
});

test('two refunds of one line at the same time return it once', async () => {
  const payment = await addPayment(store, EUROS, CAFE);
  const both = Promise.all([1, 2].map(() => refund(store, request(payment.id, part(1)))));
  while ((await playRefunds(store)) === 0);
  const codes = (await both).map((answer) => see(answer).said);
  assert.deepEqual(codes.toSorted(), ['amount_too_large', 'succeeded']);
});

test('lines that a sale does not have are refused, and nothing is kept', async () => {
  const [plain, cafe] = [await addPayment(store), await addPayment(store, EUROS, CAFE)];
  const wrong = [
    request(plain.id, part(0)),
    request(cafe.id, part(2)),
    request(cafe.id, part(0), part(0)),
  ];
  const said = await Promise.all(wrong.map((one) => refund(store, one)));
  assert.deepEqual(
    said.map((one) => isRefusal(one) && [one.code, one.param]),
    [
      ['parameter_invalid', 'line_items'],
      ['parameter_invalid', 'line_items.0.line'],
      ['parameter_invalid', 'line_items.1.line'],
    ],
  );
  for (const { id } of [plain, cafe]) {
    const search = { tenant: store.merchant.tenant, paymentId: id };
    assert.equal((await selectRefundPage(store.db, search, firstPage())).length, 0);
  }
});

test('a refund states its amount in one way', () => {
  const lines = { payment: 'pay_1', line_items: [part(0)] };
  for (const more of [{ amount: 1 }, { presentment_amount: 1 }]) {
    const refused = refundAskedFor({ ...lines, ...more });
    assert.ok(isRefusal(refused) && refused.param === 'line_items');
  }
});
