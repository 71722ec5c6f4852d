import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { writerFor } from '#i18n/text.ts';
import { NARROW } from '../testing/browser.ts';
import { payAt, signInAt } from '../testing/desk.ts';
import { BAD_LINES } from '../testing/japanese-lines.ts';
import { checkFits } from '../testing/page-width.ts';
import { ownStage } from '../testing/stage.ts';
import { addCatalogueItem, addTestTerminal } from '../testing/till.ts';

const stage = ownStage();

test('Japanese lines of till, display and wallet break by the strict rules', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox, '二階のレジ');
  const window = await browser.open({ ...NARROW, locale: 'ja-JP' });
  const { page, context } = window;
  const named = (name: string) => page.locator(`[data-name="${name}"]`);
  const check = async (shown: Page = page) => {
    assert.equal(await shown.locator('html').getAttribute('lang'), 'ja');
    assert.deepEqual(await shown.evaluate(BAD_LINES), [], shown.url());
  };
  await page.goto(`${sandbox.web_url}/terminal#key=${terminal.deviceKey}`);
  await named('Start shift').click();
  await named('Amount').waitFor();
  await check();
  await page.locator('nav a[href="terminal/settings"]').click();
  const opened = context.waitForEvent('page');
  await page.getByRole('switch', { name: writerFor('ja').text('till.settings.display') }).click();
  const display = await opened;
  await display.setViewportSize(NARROW.viewport);
  await check();
  await page.locator('nav a[href="terminal/keypad"]').click();
  await named('Amount').fill('12.50');
  await named('Charge').click();
  await named('Test pass').waitFor();
  await display.getByText('12.56').first().waitFor();
  await check();
  await check(display);
  await named('Test pass').selectOption('insufficient_funds');
  await page.locator('[data-result="Declined"]').waitFor();
  await check();
  await check(display);
  await named('Test pass').selectOption('ok');
  await page.locator('[data-result="Paid"]').waitFor();
  await check();
  await page.locator('nav a[href="terminal/history"]').click();
  await page.locator('a.entry').first().click();
  await named('Refund').click();
  await check();
  await page.goto(`${sandbox.web_url}/wallet`);
  await named('Create wallet').waitFor();
  await check();
  await window.close();
});

test('Japanese names in the dashboard break by the strict rules, and sums not at all', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox, 'コーヒーのカウンター、二階のレジ「レジャー」');
  await addCatalogueItem(sandbox, {
    name: 'サンドイッチとコーヒーのセット、お持ち帰りで。',
    unit_amount: 1_234_560_000,
  });
  const { payment, intent } = await payAt(sandbox, {
    terminal: terminal.id,
    amount: 1_234_560_000,
    description: 'チョコレートケーキとコーヒーのセット、お持ち帰りで。',
  });
  const window = await browser.open({ ...NARROW, locale: 'ja-JP' });
  const { page } = window;
  await signInAt(window, { sandbox, path: 'dashboard' });
  for (const path of [
    ...['', '/payments', `/payments/${payment}`, '/intents', `/intents/${intent}`],
    ...['/terminals', `/terminals/${terminal.id}`, '/catalog', '/offline-payments', '/balance'],
  ]) {
    await page.goto(`${sandbox.web_url}/dashboard${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await window.idle();
    assert.deepEqual(await page.evaluate(BAD_LINES), [], `/dashboard${path}`);
    await checkFits(page, `/dashboard${path}`);
  }
  await window.closeClean();
});
