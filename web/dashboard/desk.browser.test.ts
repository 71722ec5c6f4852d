import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { DESKTOP } from '../testing/browser.ts';
import { payAt } from '../testing/desk.ts';
import { openSignedIn } from '../testing/signed-in.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, openTill, type TestTerminal } from '../testing/till.ts';

let terminal: TestTerminal;

const stage = sharedStage(async ({ sandbox }) => {
  terminal = await addTestTerminal(sandbox);
});

test('a sale that settles while another is open is in the list after Back', async () => {
  const { sandbox } = stage();
  const first = await payAt(sandbox, { terminal: terminal.id, amount: 7_250_000 });
  const window = await openSignedIn(stage(), `dashboard/payments?terminal=${terminal.id}`);
  const { page } = window;
  await page.getByRole('link', { name: first.payment }).click();
  await page.getByText('Customer tapped').waitFor();
  // 7.25 plus 0.50 % in fees, minus 0.05 % cashback.
  await page.locator('.headline').getByText('7.28').waitFor();
  await page.getByRole('heading', { name: 'Events and webhooks' }).waitFor();
  const steps = page.locator('section', { has: page.getByRole('heading', { name: /^What/ }) });
  assert.doesNotMatch(await steps.innerText(), /[a-z][._][a-z]/, 'events are a list of their own');
  const later = await payAt(sandbox, { terminal: terminal.id, amount: 1_000_000 });
  await page.goBack();
  await page.getByRole('link', { name: later.payment }).waitFor();
  await window.closeClean();
});

test('the overview shows two decimals of every sum, and all of them on demand', async () => {
  const { sandbox } = stage();
  const { payment } = await payAt(sandbox, { terminal: terminal.id, amount: 1_000_001 });
  const window = await openSignedIn(stage(), 'dashboard');
  const { page } = window;
  const latest = page.getByRole('table', { name: 'Latest sales' });
  await latest.getByRole('link', { name: payment }).waitFor();
  const sales = page.locator('.figures').getByRole('button', { name: /USDC$/ });
  await sales.nth(1).waitFor();
  const texts = [await page.getByRole('main').innerText()];
  for (const bar of await page.locator('.chart a').all()) {
    texts.push((await bar.getAttribute('aria-label')) ?? '');
  }
  assert.doesNotMatch(texts.join(), /\d\.\d{3}/);
  await sales.first().click();
  await page.getByText(/^Exact amount: [\d,]+\.\d{6} USDC$/).waitFor();
  await window.closeClean();
});

test('the Enter that ends a composition of an input method filters nothing', async () => {
  const window = await openSignedIn(stage(), 'dashboard/payments');
  const { page } = window;
  const search = page.getByRole('textbox', { name: 'Search' });
  await search.fill('にほん');
  await search.evaluate((field) => {
    const enter = { key: 'Enter', isComposing: true, bubbles: true };
    field.dispatchEvent(new KeyboardEvent('keydown', enter));
  });
  assert.equal(new URL(page.url()).search, '');
  await window.closeClean();
});

test('a page whose code is missing after an update keeps the navigation', async () => {
  const window = await openSignedIn(stage(), 'dashboard', { ...DESKTOP, serviceWorkers: 'block' });
  const { page } = window;
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  // Marks the page as already reloaded because of a missing file, so that it does not reload again.
  await page.evaluate(() => sessionStorage.setItem('tapline.reloaded', String(Date.now())));
  await page.route(/\/(settings|team)-[^/]+\.js$/, (route) => route.abort());
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('alert').getByRole('button').waitFor();
  await page.getByRole('link', { name: 'Refunds' }).click();
  await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);
  await window.close();
});

test('dashboard and till show times in the time zone of the account', async () => {
  const { sandbox, browser } = stage();
  const sale = await payAt(sandbox, { terminal: terminal.id, amount: 1_230_000 });
  const options = { ...DESKTOP, timezoneId: 'Asia/Tokyo' };
  const window = await openSignedIn(stage(), `dashboard/payments?terminal=${terminal.id}`, options);
  const { page } = window;
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: sale.payment }) });
  await page.getByText('Times are in UTC.').waitFor();
  await checkUtc(row.locator('time'));
  await window.closeClean();
  const till = await openTill(browser, sandbox, { terminal, options });
  // A till's history shows the payments of its shift.
  await payAt(sandbox, { terminal: terminal.id, amount: 1_230_000 });
  await till.page.getByRole('link', { name: 'History' }).click();
  await till.page.getByText('Times are in UTC.').waitFor();
  await checkUtc(till.page.getByRole('main').locator('time'));
  await till.closeClean();
});

/** Checks a time in UTC, the time zone of the sandbox's account. */
async function checkUtc(time: Locator): Promise<void> {
  const at = new Date((await time.first().getAttribute('datetime')) ?? '');
  const shown = (await time.first().textContent()) ?? '';
  const clock = { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' } as const;
  const expected = new Intl.DateTimeFormat('en-US', clock).format(at);
  assert.ok(shown.endsWith(expected), `${shown}, not ${expected}`);
}
