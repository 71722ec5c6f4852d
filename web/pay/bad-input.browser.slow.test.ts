import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { PHONE, type TestBrowser } from '../testing/browser.ts';
import { setClock, WRONG_CLOCKS } from '../testing/clock.ts';
import { loseAnswers } from '../testing/network-faults.ts';
import { askForPayment, fundedAccount, injectWallet } from '../testing/payer.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, paymentsOf } from '../testing/till.ts';

/** Enough for two payments, so that a double charge would succeed and be noticed. */
const USDC = 10_000_000n;

const stage = sharedStage();

const payButton = (page: Page) => page.getByRole('button', { name: /^Pay / });
const paid = (page: Page) =>
  page.getByRole('status').filter({ has: page.getByText('Paid', { exact: true }) });

async function openLink(options: Parameters<TestBrowser['open']>[0] = PHONE) {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { url } = await askForPayment(sandbox, terminal);
  const window = await browser.open(options);
  const wallet = await injectWallet(window, sandbox, await fundedAccount(sandbox, USDC));
  const payments = async () => (await paymentsOf(sandbox, terminal)).length;
  return { url, window, page: window.page, wallet, payments };
}

test('a double click on the button asks the wallet once, and pays once', async () => {
  const { url, window, page, wallet, payments } = await openLink();
  await page.goto(url);
  await payButton(page).dblclick();
  await paid(page).waitFor();
  const signed = wallet.asked.filter((method) => method === 'eth_signTypedData_v4');
  assert.equal(signed.length, 1);
  assert.equal(await payments(), 1);
  window.checkClean();
  await window.close();
});

test('a reload before the response, or going back, pays nothing more', async () => {
  const { url, window, page, payments } = await openLink();
  await page.goto(url);
  const lost = await loseAnswers(page, /\/authorization$/);
  await payButton(page).click();
  while (lost.met === 0) await page.waitForTimeout(50);
  await page.reload();
  await lost.end();
  await paid(page).waitFor();
  assert.equal(await payButton(page).count(), 0);
  await page.goto('about:blank');
  await page.goBack();
  await paid(page).waitFor();
  assert.equal(await payments(), 1);
  await window.close();
});

test('a second tab that was left open shows the payment as paid', async () => {
  const { sandbox, browser } = stage();
  const { url, window, page, payments } = await openLink();
  const stale = await browser.open();
  await injectWallet(stale, sandbox, await fundedAccount(sandbox, USDC));
  await stale.page.goto(url);
  await payButton(stale.page).waitFor();
  await page.goto(url);
  await payButton(page).click();
  await paid(page).waitFor();
  await paid(stale.page).waitFor();
  assert.equal(await payButton(stale.page).count(), 0);
  assert.equal(await payments(), 1);
  await stale.close();
  await window.close();
});

for (const { name, offsetMs } of WRONG_CLOCKS) {
  test(`a device whose clock is ${name} shows the remaining time, and pays`, async () => {
    const { url, window, page, payments } = await openLink();
    await setClock(page, offsetMs);
    await page.goto(url);
    await payButton(page).waitFor();
    const left = (await page.getByRole('timer').textContent()) ?? '';
    assert.match(left, /^\d:\d\d left$/);
    await payButton(page).click();
    await paid(page).waitFor();
    assert.equal(await payments(), 1);
    window.checkClean();
    await window.close();
  });
}

test('nothing moves for users who prefer reduced motion', async () => {
  const { url, window, page } = await openLink({ ...PHONE, reducedMotion: 'reduce' });
  const moving = () =>
    page.evaluate(
      () => document.getAnimations().filter(({ playState }) => playState === 'running').length,
    );
  await page.goto(url);
  await payButton(page).waitFor();
  assert.equal(await moving(), 0);
  await payButton(page).click();
  await paid(page).waitFor();
  assert.equal(await moving(), 0);
  await window.close();
});
