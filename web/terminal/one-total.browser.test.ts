import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { present } from '#core/assert.ts';
import { CART_SALES, type CartSale, cartRequest } from '#testkit/fixtures/payments/cart-sales.ts';
import { type Language, readable, written } from '#testkit/fixtures/payments/written-sums.ts';
import { all } from '../../test/sources.ts';
import type { TestWindow } from '../testing/browser.ts';
import { CAFE_SALE, signInAt } from '../testing/desk.ts';
import { payLinkOf } from '../testing/payer.ts';
import { signInAsStaff } from '../testing/staff.ts';
import { ownStage } from '../testing/stage.ts';
import {
  addTestTerminal,
  listAsMerchant,
  newTill,
  openDisplay,
  postAsMerchant,
  setShop,
  type TestTerminal,
} from '../testing/till.ts';
import { readyWallet } from '../testing/wallet.ts';

/**
 * One sale has two sums, and each is the same to the cent wherever it is read: what the shop gets
 * (price and tip), and what the customer pays (`Total`).
 */

const stage = ownStage(({ sandbox }) => setShop(sandbox, { currency: 'eur' }));

/** `CAFE_SALE` and a tip of 10 %; then one coffee is refunded. */
const SALE = { gets: '€19.56', total: '€19.65', fee: '€0.09', usdc: '21.33 USDC' };
const REFUND = { sum: '€3.42', usdc: '3.71 USDC', tax: '€0.55' };
const TIP = { typed: '1.78', atoms: 1_932_052 };
const RATE = '€1 = 1.0854 USDC';

/** Screens that show what a customer pays. A new one has to be read below. */
const SCREENS = [
  'web/dashboard/pages/intent.tsx',
  'web/dashboard/pages/intents.tsx',
  'web/dashboard/pages/payment.tsx',
  'web/dashboard/payments/payment-columns.tsx',
  'web/operator/pages/support-payment.tsx',
  'web/pay/pay-link.ts', // the pages of pay link and tag
  'web/terminal/customer-display.ts',
  'web/terminal/offline/offline-total.ts',
  'web/terminal/screens/accepted-offline.tsx',
  'web/terminal/screens/ask-wallet-to-sign.tsx',
  'web/terminal/screens/display.tsx',
  'web/terminal/screens/payment-result.tsx',
  'web/terminal/screens/sales-history.tsx',
  'web/terminal/screens/wait-for-tap.tsx',
  'web/wallet/screens/history.tsx',
  'web/wallet/screens/payment-moment.tsx', // read by payment-moment.browser.test.ts
  'web/wallet/screens/ring-sheet.tsx', // the same numbers as the pay page
  'web/wallet/screens/static-pass-toasts.tsx',
];

test('each screen that shows a total computes it in one place', () => {
  const from = /from '[./]*ui\/(sale|paid)-total\.tsx?'|\bpaidSum\b/;
  const results = all
    .filter(({ name }) => name.startsWith('web/') && !name.includes('.test.'))
    .filter(({ name, text }) => !name.startsWith('web/ui/') && from.test(text))
    .map(({ name }) => name);
  assert.deepEqual(results.sort(), [...SCREENS].sort());
});

/** Other files that read a price of the API, and what it is. */
const OTHER_PRICES: Readonly<Record<string, string>> = {
  'web/dashboard/account/limit-field.tsx': 'a limit',
  'web/dashboard/account/offline-limits.tsx': 'limits',
  'web/dashboard/account/price-settings.tsx': 'a rate of tax',
  'web/dashboard/pages/balance.tsx': 'the worth of a balance',
  'web/dashboard/pages/offline-payments.tsx': 'an offline sale: its price',
  'web/dashboard/pages/refund.tsx': 'a refund',
  'web/dashboard/pages/refunds.tsx': 'refunds',
  'web/dashboard/pages/risk-rules.tsx': 'limits',
  'web/dashboard/pages/settings.tsx': 'limits',
  'web/dashboard/pages/staff.tsx': 'limits',
  'web/dashboard/payments/offline-columns.tsx': 'offline sales: their prices',
  'web/dashboard/payments/refund-dialog.tsx': 'a refund',
  'web/dashboard/payments/sold-items.tsx': 'the prices of lines',
  'web/dashboard/statistics/sales-of.tsx': 'what the shop gets',
  'web/dashboard/statistics/sales-today.tsx': 'the worth of a balance',
  'web/dashboard/team/staff-dialogs.tsx': 'a limit',
  'web/dashboard/terminals/refund-limit.tsx': 'a limit',
  'web/dashboard/terminals/till-access-dialog.tsx': 'a limit',
  'web/operator/pages/support.tsx': 'the total of the API',
  'web/pay/build-payment-message.ts': 'what a wallet signs',
  'web/pay/pay.tsx': 'the price, from which the tip is computed',
  'web/terminal/offline/held-sales.ts': 'limits of offline sales',
  'web/terminal/offline/offline-till.ts': 'the price of an offline sale',
  'web/terminal/offline/till-offline-limits.ts': 'limits',
  'web/terminal/screens/refund.tsx': 'a refund',
  'web/terminal/screens/tip.tsx': 'the price, from which the tip is computed',
  'web/terminal/screens/totals.tsx': 'what the shop gets',
  'web/terminal/till-machine.ts': 'the price that is charged',
  'web/terminal/till-phases.ts': 'the price that is charged',
  'web/wallet/signed-prices.ts': 'the rate that the wallet has seen',
};

test('each file of the apps that reads a price is read below, or shows no total', () => {
  const price = /\b(presentment|total_charged|amount_refunded)\b/;
  const apart = /^web\/(ui|data|testing)\/|\.test\.|shots\.ts$/;
  const results = all
    .filter(({ name, text }) => name.startsWith('web/') && !apart.test(name) && price.test(text))
    .map(({ name }) => name)
    .filter((name) => !SCREENS.includes(name));
  assert.deepEqual(results.sort(), Object.keys(OTHER_PRICES).sort());
});

type Schemas = Readonly<Record<string, { readonly properties?: Record<string, object> }>>;

/** Their sum is a part of a price, the price of terms, or the worth of a balance. */
const WITHOUT_TOTAL = /Refund$|^Offline(Payment|Record)$|^Balance$/;

test('each price that a customer pays has its total and its fee in the API', () => {
  let seen = 0;
  for (const name of ['', '/device', '/dashboard', '/payer', '/pay', '/operator']) {
    const file = name === '' ? 'openapi.json' : `openapi${name}.json`;
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    const { schemas } = (JSON.parse(text) as { components: { schemas: Schemas } }).components;
    for (const [schema, { properties }] of Object.entries(schemas)) {
      if (properties?.presentment === undefined || WITHOUT_TOTAL.test(schema)) continue;
      seen++;
      const fields = JSON.stringify(properties.presentment);
      assert.match(fields, /"total".*"fees"/, `${schema} in ${file}`);
    }
  }
  assert.ok(seen >= 12, `${seen} prices`);
});

/** Returns the text of a page once it shows the total. */
async function readTotal(page: Page, address?: string): Promise<string> {
  if (address !== undefined) await page.goto(address);
  await page.getByText(SALE.total, { exact: true }).first().waitFor();
  const text = (await page.locator('body').textContent()) ?? '';
  assert.doesNotMatch(text, /\d[.,]\d{6}\b/, 'six decimals without a label');
  return text;
}

/** Types the tip, and waits for the total with it. */
async function addTip(page: Page): Promise<void> {
  await page.getByRole('textbox', { name: 'Custom tip' }).fill(TIP.typed);
  await page.getByRole('button', { name: /^Add tip/ }).click();
}

/** Reads the pages that a customer opens before paying. */
async function readAsCustomer(addresses: readonly string[]): Promise<string[]> {
  const customer = await stage().browser.open();
  const texts: string[] = [];
  for (const address of addresses) {
    await customer.page.goto(address);
    await addTip(customer.page);
    texts.push(await readTotal(customer.page));
  }
  await customer.close();
  return texts;
}

/** Reads the pages of a merchant's and the network's people. */
async function readAsPeople(sold: Readonly<Record<'intent' | 'payment' | 'order', unknown>>) {
  const { sandbox, browser } = stage();
  const desk = await browser.open();
  await signInAt(desk, { sandbox, path: 'dashboard/payments' });
  const list = await readTotal(desk.page);
  await desk.page.getByRole('link', { name: new RegExp(String(sold.payment)) }).click();
  await desk.page.getByText(REFUND.sum).first().waitFor();
  const detail = await readTotal(desk.page);
  const intent = await readTotal(desk.page, `${sandbox.web_url}/dashboard/intents/${sold.intent}`);
  await desk.page.goto(`${sandbox.web_url}/dashboard`);
  await desk.page.getByText(SALE.gets).first().waitFor();
  await desk.close();
  const staff = await browser.open();
  await signInAsStaff(staff, { sandbox, path: `operator/support?text=${sold.order}` });
  const search = await readTotal(staff.page);
  await staff.close();
  return { list, detail, intent, search };
}

test('one sale has the same two sums on every screen and paper', async () => {
  const { sandbox, browser } = stage();
  const { wallet, pass } = await readyWallet(browser, sandbox);
  const { till, page, terminal } = await newTill(stage());
  const display = await openDisplay(till);
  await page.getByRole('link', { name: 'Keypad' }).click();
  const created = await postAsMerchant(sandbox, '/payment_intents', {
    ...CAFE_SALE,
    terminal: terminal.id,
    tipping: { percentages: [10] },
    expires_in: 600,
  });
  await addTip(page);
  const read: Record<string, string> = { waiting: await readTotal(page) };
  read.display = await readTotal(display);
  const link = await payLinkOf(sandbox, terminal, created.id);
  const [pay = '', tag = ''] = await readAsCustomer([String(link), terminal.tagUrl]);

  const tapped = await postAsMerchant(sandbox, `/test_helpers/terminals/${terminal.id}/tap`, {
    payment_intent: created.id,
    credential: { type: 'nfc_id', value: pass },
    tip_amount: TIP.atoms,
  });
  assert.equal(tapped.status, 'succeeded');
  await till.result('Paid').waitFor();
  read.result = await readTotal(page);
  read.paidDisplay = await readTotal(display);
  await till.newPayment.click();
  const refund = await postAsMerchant(sandbox, '/refunds', {
    payment: tapped.payment,
    line_items: [{ line: 0, quantity: 1 }],
  });
  await page.getByRole('link', { name: 'History' }).click();
  read.history = await readTotal(page);
  await page.getByRole('link', { name: new RegExp(String(tapped.payment)) }).click();
  read.historyPayment = await readTotal(page);
  await page.getByRole('link', { name: 'Totals' }).click();
  await page.getByText('€17.78').first().waitFor();
  const totals = (await page.locator('body').textContent()) ?? '';
  // The wallet read its payments a moment ago, for the result of this one.
  await wallet.page.reload();
  await wallet.goTo('History');
  read.wallet = await readTotal(wallet.page);

  const [payment] = await listAsMerchant(sandbox, `/payments?payment_intent=${created.id}`);
  const receipt = String(payment?.receipt_url);
  const paper = await browser.open();
  read.receipt = await readTotal(paper.page, receipt);
  for (const width of [32, 48]) {
    read[`text ${width}`] = await (await fetch(`${receipt}.txt?width=${width}`)).text();
  }
  await paper.page.goto(String(refund.receipt_url));
  const back = (await paper.page.locator('body').textContent()) ?? '';
  await paper.close();
  const sold = { intent: created.id, payment: tapped.payment, order: payment?.order_id };
  Object.assign(read, { pay, tag }, await readAsPeople(sold));

  for (const [name, text] of Object.entries(read)) {
    assert.ok(text.includes(SALE.total), `${name}: ${text}`);
    if (name !== 'list' && name !== 'search' && name !== 'history') {
      assert.match(text, /Service fee\s*€0\.09/, name);
    }
    if (!['list', 'search', 'intent'].includes(name)) assert.ok(text.includes(SALE.usdc), name);
  }
  for (const name of ['result', 'history', 'historyPayment', 'detail']) {
    assert.ok(read[name]?.includes(SALE.gets), `${name}: ${read[name]}`);
  }
  for (const name of ['waiting', 'pay', 'tag', 'result', 'receipt', 'text 32', 'detail']) {
    assert.ok(read[name]?.replaceAll(/\s+/g, ' ').includes(RATE), `${name}: ${read[name]}`);
  }
  for (const name of ['historyPayment', 'wallet', 'receipt', 'text 32', 'detail']) {
    assert.ok(read[name]?.includes(REFUND.sum), `${name}: ${read[name]}`);
  }
  for (const part of [REFUND.sum, REFUND.usdc, REFUND.tax]) assert.ok(back.includes(part), back);
  for (const part of ['€17.78', '€1.78', REFUND.sum]) assert.ok(totals.includes(part), totals);
  for (const object of [tapped, payment]) {
    const { total, fees } = present(object, 'object').presentment as Record<string, unknown>;
    assert.deepEqual([total, fees], [1_965, 9]);
  }
  till.checkClean();
  await till.close();
  wallet.checkClean();
  await wallet.close();
});

const OTHERS = [
  { locale: 'ja-JP', currency: 'jpy' },
  { locale: 'ar-KW', currency: 'kwd' },
  { locale: 'de-DE', currency: null },
] as const;

/** Time within which a page shows a sum. */
const SHOWN_MS = 30_000;

/** Waits until a page shows each of these sums, written in the language of the page. */
async function waitForSums(page: Page, sale: CartSale, sums: readonly number[]): Promise<void> {
  const deadline = Date.now() + SHOWN_MS;
  for (;;) {
    const language = (await page.locator('html').getAttribute('lang')) as Language;
    const text = readable((await page.locator('body').textContent()) ?? '');
    const missing = sums
      .map((units) => written(units, sale, language))
      .filter((sum) => !text.includes(sum));
    if (missing.length === 0) return;
    assert.ok(Date.now() < deadline, `${missing} in ${page.url()} (${language}): ${text}`);
    await page.waitForTimeout(100);
  }
}

/** Sells a cart at a till in this language, refunds a coffee, and reads both. */
async function sellIn({ page, context }: TestWindow, terminal: TestTerminal, sale: CartSale) {
  const { sandbox } = stage();
  const { price, refund, untipped } = sale;
  const paid = [untipped.total, untipped.fees];
  const { tipping: _, ...cart } = cartRequest(sale);
  await page.goto(`${sandbox.web_url}/terminal#key=${terminal.deviceKey}`);
  await page.locator('[data-name="Start shift"]').click();
  await page.locator('[data-name="Amount"]').waitFor();
  const body = { ...cart, terminal: terminal.id };
  const { id } = await postAsMerchant(sandbox, '/payment_intents', body);
  await waitForSums(page, sale, paid);
  const customer = await context.newPage();
  for (const address of [String(await payLinkOf(sandbox, terminal, id)), terminal.tagUrl]) {
    await customer.goto(address);
    await waitForSums(customer, sale, paid);
  }
  const path = `/test_helpers/terminals/${terminal.id}/tap`;
  const { payment } = await postAsMerchant(sandbox, path, { payment_intent: id });
  await page.locator('[data-result="Paid"]').waitFor();
  await waitForSums(page, sale, [...paid, price]);
  const line_items = [{ line: 0, quantity: 1 }];
  const { receipt_url } = await postAsMerchant(sandbox, '/refunds', { payment, line_items });
  await page.locator('[data-name="New payment"]').click();
  await page.locator('nav a[href="terminal/history"]').click();
  await page.locator('a.entry').first().click();
  await waitForSums(page, sale, [...paid, price, refund]);
  await page.locator('nav a[href="terminal/totals"]').click();
  await waitForSums(page, sale, [price, refund]);
  await customer.goto(String(receipt_url));
  await waitForSums(customer, sale, [refund]);
  await customer.goto(`${sandbox.web_url}/dashboard/payments/${payment}`);
  await customer.locator('[data-name="Email"]').fill(sandbox.dashboard.email);
  await customer.locator('[data-name="Password"]').fill(sandbox.dashboard.password);
  await customer.locator('[data-name="Sign in"]').click();
  await waitForSums(customer, sale, [...paid, price, refund]);
  await customer.goto(`${sandbox.web_url}/dashboard/intents`);
  await waitForSums(customer, sale, [untipped.total]);
  await customer.goto(`${sandbox.web_url}/dashboard/intents/${id}`);
  await waitForSums(customer, sale, paid);
}

test('a sale has the same sums in other currencies and languages', async () => {
  const { sandbox, browser } = stage();
  for (const { locale, currency } of OTHERS) {
    await setShop(sandbox, { currency });
    const sale = present(
      CART_SALES.find((one) => one.currency === currency),
      'sale',
    );
    const terminal = await addTestTerminal(sandbox, locale);
    const window = await browser.open({ locale });
    await sellIn(window, terminal, sale);
    await window.closeClean();
  }
});
