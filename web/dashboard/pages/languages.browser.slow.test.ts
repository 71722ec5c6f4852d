import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NARROW, type TestWindow } from '../../testing/browser.ts';
import { payAt } from '../../testing/desk.ts';
import { control, openPseudoDashboard } from '../../testing/pseudo-dashboard.ts';
import { checkPseudoLanguage } from '../../testing/pseudo-language.ts';
import { ownStage } from '../../testing/stage.ts';
import { addCatalogueItem, setShop } from '../../testing/till.ts';

/** Tests every dashboard page, with its dialogs, in the pseudo-language. */

let window: TestWindow;

const stage = ownStage(async ({ sandbox, browser }) => {
  const { terminal } = sandbox.test;
  await payAt(sandbox, { terminal, amount: 2_500_000, description: 'Table 7' });
  await payAt(sandbox, { terminal, amount: 2_500_000, pass: 'insufficient_funds' });
  await setShop(sandbox, { tax_rates: [{ name: 'Food', rate: 750 }] });
  await addCatalogueItem(sandbox, { name: 'Soup', unit_amount: 480, tax_rate: 'Food' });
  window = await browser.open(NARROW);
  await openPseudoDashboard(window, sandbox);
});

async function open(path: string): Promise<void> {
  await window.page.goto(`${stage().sandbox.web_url}/dashboard/${path}`);
  await window.page.getByRole('heading', { level: 1 }).waitFor();
  await window.idle();
}

const PAGES = [
  'intents',
  'refunds',
  'balance',
  'terminals',
  'catalog',
  'api-keys',
  'webhooks',
  'events',
  'request-log',
  'team',
  'settings',
  'verification',
  'risk-rules',
  'audit-log',
  'no-such-page',
];

for (const path of PAGES) {
  test(`the page ${path} is translated and fits`, async () => {
    await open(path);
    await checkPseudoLanguage(window);
    window.checkClean(/status of 40/);
  });
}

/** Opens the page of each list's newest object. */
for (const path of ['intents', 'terminals', 'events', 'request-log']) {
  test(`the page of one of ${path} is translated and fits`, async () => {
    await open(path);
    const link = window.page.locator('main td a').first();
    await window.page.goto(
      new URL((await link.getAttribute('href')) ?? '', stage().sandbox.web_url).href,
    );
    await window.idle();
    await checkPseudoLanguage(window);
  });
}

const DIALOGS = [
  { path: 'api-keys', button: 'Create API key' },
  { path: 'terminals', button: 'Add terminal' },
  { path: 'catalog', button: 'Add item' },
  { path: 'settings', button: 'Add tax rate' },
  { path: 'balance', button: 'Withdraw' },
];

for (const { path, button } of DIALOGS) {
  test(`the dialog of ${button} is translated and fits`, async () => {
    await open(path);
    await control(window, button).click();
    await window.page.getByRole('dialog').waitFor();
    await checkPseudoLanguage(window);
  });
}

test('the dashboard’s language can be changed separately from that of receipts', async () => {
  await open('settings');
  const { page } = window;
  await page.locator('select:has(option[value=qps])').selectOption('en');
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  const forCustomers = page.getByLabel('Language for customers');
  assert.equal(await forCustomers.inputValue(), '');
  await forCustomers.selectOption('fr');
  const form = page.locator('form', { has: forCustomers });
  await form.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await page.reload();
  await forCustomers.waitFor();
  assert.equal(await forCustomers.inputValue(), 'fr');
  assert.equal(await page.locator('html').getAttribute('lang'), 'en');
});
