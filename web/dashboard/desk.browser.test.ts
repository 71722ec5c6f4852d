import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSharedSandbox, type SharedSandbox } from '#testing/shared-sandbox.ts';
import { DESKTOP, openBrowser, type TestBrowser } from '../testing/browser.ts';
import { payAt, signInAt } from '../testing/desk.ts';
import { addTestTerminal, type TestTerminal } from '../testing/till.ts';

let shared: SharedSandbox;
let browser: TestBrowser;
let terminal: TestTerminal;

before(async () => {
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
  terminal = await addTestTerminal(shared.sandbox);
});

after(async () => {
  await browser.close();
  await shared.close();
});

test('a sale that settles while another one is shown is in the list on the way back', async () => {
  const { sandbox } = shared;
  const first = await payAt(sandbox, { terminal: terminal.id, amount: 7_250_000 });
  const window = await browser.open(DESKTOP);
  const { page } = window;
  await signInAt(window, { sandbox, path: `dashboard/payments?terminal=${terminal.id}` });
  await page.getByRole('link', { name: first.payment }).click();
  await page.getByText('Customer tapped').waitFor();
  // What left the wallet: 0.50 % of fees on top, 0.05 % of cashback.
  await page.locator('.headline').getByText('7.28').waitFor();
  await page.getByRole('heading', { name: 'Events and webhooks' }).waitFor();
  const later = await payAt(sandbox, { terminal: terminal.id, amount: 1_000_000 });
  await page.goBack();
  await page.getByRole('link', { name: later.payment }).waitFor();
  window.checkClean();
  await window.close();
});

test('the Enter that ends a composition of an input method filters nothing', async () => {
  const { sandbox } = shared;
  const window = await browser.open(DESKTOP);
  const { page } = window;
  await signInAt(window, { sandbox, path: 'dashboard/payments' });
  const search = page.getByRole('textbox', { name: 'Search' });
  await search.fill('にほん');
  await search.evaluate((field) => {
    const enter = { key: 'Enter', isComposing: true, bubbles: true };
    field.dispatchEvent(new KeyboardEvent('keydown', enter));
  });
  assert.equal(new URL(page.url()).search, '');
  window.checkClean();
  await window.close();
});

test('a page whose code is gone after an update leaves the navigation', async () => {
  const { sandbox } = shared;
  const window = await browser.open({ ...DESKTOP, serviceWorkers: 'block' });
  const { page } = window;
  await signInAt(window, { sandbox, path: 'dashboard' });
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  // The page was loaded anew already, and that did not bring it.
  await page.evaluate(() => sessionStorage.setItem('tapline.reloaded', String(Date.now())));
  await page.route(/\/(settings|team)-[^/]+\.js$/, (route) => route.abort());
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('alert').getByRole('button').waitFor();
  await page.getByRole('link', { name: 'Refunds' }).click();
  await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  await window.close();
});
