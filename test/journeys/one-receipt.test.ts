import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fastify, { type FastifyInstance } from 'fastify';
import { createReceiptGate } from '#apis/pay/serve-receipt.ts';
import { assertSums, sumsIn } from '#testkit/apis/sale-sums.ts';
import { type CartGround, sellCarts } from '#testkit/apis/sold-carts.ts';
import { visualLines } from '#testkit/fixtures/core/pdf-text.ts';
import { CART_SALES, type CartSale } from '#testkit/fixtures/payments/cart-sales.ts';
import {
  digitsOf,
  type Language,
  readable,
  written,
} from '#testkit/fixtures/payments/written-sums.ts';

/** Reads the receipts of carts and of their refunds, in each form, currency and language. */

let shop: CartGround;
let app: FastifyInstance;

before(async () => {
  shop = await sellCarts();
  const gate = createReceiptGate(shop.ground.store.ctx);
  app = fastify();
  app.get('/receipts/*', (request, reply) => {
    const { lang = 'en' } = request.query as { readonly lang?: Language };
    const html = '<title></title><div id="app"></div>';
    return gate(request, reply, () => ({ html, language: lang }));
  });
});

after(async () => {
  await app?.close();
  await shop?.close();
});

/** Where a sum in USDC and the rate stand in one line below the total. */
const DETAILS: Readonly<Record<string, string>> = {
  eur: '21.33 USDC · €1 = 1.0854 USDC',
  jpy: '12.90 USDC · 1 USDC = ¥152.35',
  kwd: '63.96 USDC · KWD 1 = 3.2552 USDC',
};

/** The sums on the receipt of a sale, and on that of its refund. */
const ON_SALE = ({ prices, price, tip, fees, total, refund, taxes }: CartSale) => [
  ...[2 * prices.coffee, prices.coffee, prices.cake, price, tip, fees, total, refund],
  ...taxes.flatMap(({ net, tax, gross }) => [net, tax, gross]),
];
const ON_REFUND = ({ prices, refund, refundTaxes }: CartSale) => [
  ...[prices.coffee, refund, ...refundTaxes.flatMap(({ net, tax, gross }) => [net, tax, gross])],
];

async function formsOf(token: string, language: Language): Promise<Record<string, string>> {
  const get = (form: string, query = '') =>
    app.inject(`/receipts/${token}${form}?lang=${language}${query}`);
  const [page, narrow, wide] = await Promise.all([
    get(''),
    get('.txt', '&width=32'),
    get('.txt', '&width=48'),
  ]);
  return { html: page.body, 'txt 32': narrow.body, 'txt 48': wide.body };
}

const LANGUAGES = ['en', 'de', 'ar', 'ja'] as const;

async function compare(
  { sale, token, sums }: { sale: CartSale; token: string; sums: readonly number[] },
  language: Language,
): Promise<void> {
  for (const [form, text] of Object.entries(await formsOf(token, language))) {
    const shown = readable(text);
    for (const units of sums) {
      const sum = written(units, sale, language);
      assert.ok(shown.includes(sum), `${sale.currency} ${form} ${language}: ${sum} in ${shown}`);
    }
    assert.doesNotMatch(text, /(-{32,}\n){2}/, `${form}: an empty block`);
    assert.doesNotMatch(shown, /\d[.,]\d{4,}(?! USDC)/, `${form}: six decimals without a label`);
  }
}

test('receipts have the same sums as page and text, in four languages', async () => {
  for (const { sale, receipt, refundReceipt } of shop.sold) {
    for (const language of LANGUAGES) {
      await compare({ sale, token: receipt, sums: ON_SALE(sale) }, language);
      await compare({ sale, token: refundReceipt, sums: ON_REFUND(sale) }, language);
    }
    const { body } = await app.inject(`/receipts/${receipt}.txt?width=48`);
    const detail = DETAILS[sale.currency ?? ''];
    if (detail !== undefined) assert.ok(readable(body).includes(detail), body);
    assert.ok(readable(body).includes(`−${written(sale.discount, sale, 'en')}`), body);
  }
});

test('receipts have the same sums as JSON and PDF', async () => {
  for (const cart of shop.sold) {
    const { sale, receipt, refundReceipt } = cart;
    for (const token of [receipt, refundReceipt]) {
      const { body } = await app.inject(`/receipts/${token}.json`);
      const found = sumsIn(JSON.parse(body), CART_SALES);
      assert.ok(found.length > 0, body);
      for (const sums of found) assertSums(sums, token);
    }
    for (const language of ['en', 'ar'] as const) {
      const { rawPayload } = await app.inject(`/receipts/${receipt}.pdf?lang=${language}`);
      const lines = readable(visualLines(rawPayload).join(' '));
      for (const units of ON_SALE(sale)) {
        const digits = digitsOf(units, sale, language);
        assert.ok(lines.includes(digits), `${sale.currency} ${language}: ${digits} in ${lines}`);
      }
    }
  }
});
