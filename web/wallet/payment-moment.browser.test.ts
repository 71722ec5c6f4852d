import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import { keepResults, readyWallet, tapPass, walletOf } from '../testing/wallet.ts';

const stage = sharedStage();

/** Time from the till's response to the wallet's screen. */
const SOON_MS = 1_000;

function resultIn(page: Page, word: string) {
  const result = page.getByRole('status').filter({ hasText: new RegExp(`^${word}`) });
  return { result, shown: () => result.waitFor({ timeout: SOON_MS }) };
}

async function readCode(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.getByRole('button', { name: /^Pay/ }).click();
  await page.getByRole('button', { name: /^Show code/ }).click();
  await page.locator('.pass-code').waitFor();
  return page.getByRole('dialog').getByRole('textbox').inputValue();
}

test('both windows show a payment within a second, until it is closed, and only once', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet } = await readyWallet(browser, sandbox, PHONE);
  const { page, context } = wallet;
  await keepResults(wallet);
  const other = await context.newPage();
  await other.goto(`${sandbox.web_url}/wallet`);
  await other.getByLabel('Balance').waitFor();
  await page.bringToFront();

  const value = await readCode(page);
  const paid = await tapPass(sandbox, {
    ...{ terminal, amount: 2_500_000 },
    credential: { type: 'qr', value },
  });
  assert.equal(paid.status, 'succeeded');
  await Promise.all([page, other].map((one) => resultIn(one, 'Paid').shown()));
  const { result } = resultIn(page, 'Paid');
  await result.getByText('2.51').waitFor();
  await result.getByText('Demo').waitFor();
  const box = await result.boundingBox();
  assert.deepEqual([box?.width, box?.height], [390, 844]);
  assert.equal(await page.locator('.pass-code').count(), 0, 'the code is spent');
  await wallet.checkAccessibility();
  await walletOf({ ...wallet, page: other }).checkAccessibility();

  await result.getByRole('button', { name: 'Done' }).click();
  await result.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByLabel('Balance').waitFor();
  await page.waitForTimeout(SOON_MS);
  assert.equal(await result.count(), 0, 'it was seen');
  await resultIn(other, 'Paid').result.getByRole('link', { name: 'Receipt' }).click();
  await other.waitForURL(/\/receipts\//);
  await wallet.closeClean();
});

test('a decline shows its reason; a payment during sleep is shown on waking', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet, pass } = await readyWallet(browser, sandbox, PHONE);
  const { page, context } = wallet;
  await keepResults(wallet);
  const declined = await tapPass(sandbox, { terminal, pass, amount: 60_000_000 });
  assert.equal(declined.status, 'requires_payment_method');
  const no = resultIn(page, 'Declined');
  await no.shown();
  await no.result
    .getByText('above your limits')
    .or(no.result.getByText('allowed enough'))
    .waitFor();
  await wallet.checkAccessibility();
  await page.keyboard.press('Escape');
  await no.result.waitFor({ state: 'detached' });

  await context.setOffline(true);
  const paid = await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
  assert.equal(paid.status, 'succeeded');
  const yes = resultIn(page, 'Paid');
  await context.setOffline(false);
  await yes.shown();
  await wallet.close();
});
