import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { present } from '#core/assert.ts';
import { all } from '../../test/sources.ts';
import { signInAt } from '../testing/desk.ts';
import { payLinkOf } from '../testing/payer.ts';
import { signInAsStaff } from '../testing/staff.ts';
import { ownStage } from '../testing/stage.ts';
import { listAsMerchant, newTill, postAsMerchant, setShop } from '../testing/till.ts';
import { readyWallet } from '../testing/wallet.ts';

/**
 * One sale has two sums, and each is the same to the cent wherever it is read: what the shop gets
 * (price and tip), and what the customer pays (`Total`).
 */

const stage = ownStage(({ sandbox }) => setShop(sandbox, { currency: 'eur' }));

/** €19.76 and a tip of 10 %; the fee is rounded with the total. */
const SALE = { gets: '€21.74', total: '€21.84', fee: '€0.10', usdc: '23.70 USDC' };
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

test('one sale has the same two sums on every screen and paper', async () => {
  const { sandbox, browser } = stage();
  const { wallet, pass } = await readyWallet(browser, sandbox);
  const { till, page, terminal } = await newTill(stage());
  const created = await postAsMerchant(sandbox, '/payment_intents', {
    presentment: { currency: 'eur', amount: 1_976 },
    terminal: terminal.id,
    tipping: { percentages: [10] },
    expires_in: 600,
  });
  const tip = 2_149_137;
  await page.getByRole('textbox', { name: 'Custom tip' }).fill('1.98');
  await page.getByRole('button', { name: /^Add tip/ }).click();
  const read: Record<string, string> = { waiting: await readTotal(page) };
  const link = await payLinkOf(sandbox, terminal, created.id);
  const customer = await browser.open();
  await customer.page.goto(`${link}`);
  await customer.page.getByRole('textbox', { name: 'Custom tip' }).fill('1.98');
  await customer.page.getByRole('button', { name: /^Add tip/ }).click();
  read.pay = await readTotal(customer.page);
  await customer.close();

  const tapped = await postAsMerchant(sandbox, `/test_helpers/terminals/${terminal.id}/tap`, {
    payment_intent: created.id,
    credential: { type: 'nfc_id', value: pass },
    tip_amount: tip,
  });
  assert.equal(tapped.status, 'succeeded');
  await till.result('Paid').waitFor();
  read.result = await readTotal(page);
  await till.newPayment.click();
  await page.getByRole('link', { name: 'History' }).click();
  read.history = await readTotal(page);
  await page.getByRole('link', { name: new RegExp(String(tapped.payment)) }).click();
  read.historyPayment = await readTotal(page);
  await wallet.goTo('History');
  read.wallet = await readTotal(wallet.page);

  const [payment] = await listAsMerchant(sandbox, `/payments?payment_intent=${created.id}`);
  const receipt = String(payment?.receipt_url);
  const paper = await browser.open();
  read.receipt = await readTotal(paper.page, receipt);
  for (const width of [32, 48]) {
    const response = await fetch(`${receipt}.txt?width=${width}`);
    read[`text ${width}`] = await response.text();
  }
  await paper.close();

  const desk = await browser.open();
  await signInAt(desk, { sandbox, path: 'dashboard/payments' });
  read.list = await readTotal(desk.page);
  await desk.page.getByRole('link', { name: new RegExp(String(tapped.payment)) }).click();
  read.detail = await readTotal(desk.page);
  read.intent = await readTotal(desk.page, `${sandbox.web_url}/dashboard/intents/${created.id}`);
  await desk.close();
  const staff = await browser.open();
  await signInAsStaff(staff, { sandbox, path: `operator/support?text=${payment?.order_id}` });
  read.search = await readTotal(staff.page);
  await staff.close();

  for (const [name, text] of Object.entries(read)) {
    assert.ok(text.includes(SALE.total), `${name}: ${text}`);
    if (name !== 'list' && name !== 'search' && name !== 'history') {
      assert.match(text, /Service fee\s*€0\.10/, name);
    }
    if (!['list', 'search', 'intent'].includes(name)) assert.ok(text.includes(SALE.usdc), name);
  }
  for (const name of ['result', 'history', 'historyPayment', 'detail']) {
    assert.ok(read[name]?.includes(SALE.gets), `${name}: ${read[name]}`);
  }
  for (const name of ['waiting', 'pay', 'result', 'receipt', 'text 32', 'detail']) {
    assert.ok(read[name]?.replaceAll(/\s+/g, ' ').includes(RATE), `${name}: ${read[name]}`);
  }
  for (const object of [tapped, payment]) {
    const { total, fees } = present(object, 'object').presentment as Record<string, unknown>;
    assert.deepEqual([total, fees], [2_184, 10]);
  }
  till.checkClean();
  await till.close();
  wallet.checkClean();
  await wallet.close();
});
