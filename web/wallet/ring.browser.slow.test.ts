import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, paymentsOf, postAsMerchant, type TestTerminal } from '../testing/till.ts';
import { askFirst, readyWallet, tapPass, type WalletWindow } from '../testing/wallet.ts';

const stage = sharedStage();

async function paid(terminal: TestTerminal): Promise<number> {
  return (await paymentsOf(stage().sandbox, terminal)).length;
}

interface Scene {
  readonly wallet: WalletWindow;
  readonly terminal: TestTerminal;
  /** Taps a pass whose owner must confirm. @returns the intent's id. */
  tap(): Promise<string>;
}

/** Opens a wallet whose owner must confirm the first payment at a merchant. */
async function askingWallet(): Promise<Scene> {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet, pass } = await readyWallet(browser, sandbox, PHONE);
  await askFirst(wallet);
  const tap = async () => {
    const intent = await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
    assert.equal(intent.status, 'requires_action');
    return String(intent.id);
  };
  return { wallet, terminal, tap };
}

const approve = (page: Page) => page.getByRole('button', { name: /^Approve 2.51 USDC/ });
const reject = (page: Page) => page.getByRole('button', { name: /^Reject/ });
const ended = (page: Page, word: string) =>
  page.getByRole('status').filter({ has: page.getByText(word, { exact: true }) });

test('every window rings; after one has answered, the other shows the answer', async () => {
  const { wallet, terminal, tap } = await askingWallet();
  const { page } = wallet;
  const other = await wallet.context.newPage();
  await other.goto(`${stage().sandbox.web_url}/wallet/history`);
  await other.getByText('Test USDC').waitFor();
  await tap();
  await approve(page).waitFor();
  await wallet.checkAccessibility();
  await approve(other).waitFor();
  await other.getByRole('timer').waitFor();
  await approve(other).click();
  await ended(other, 'Paid').waitFor();
  await ended(page, 'Already answered').waitFor();
  await wallet.checkAccessibility();
  await wallet.button(/^Done/).click();
  assert.equal(await page.getByRole('dialog').count(), 0);
  assert.equal(await paid(terminal), 1);
  await other.getByRole('button', { name: /^Done/ }).click();
  await other.getByText('2.51').first().waitFor();
  wallet.checkClean();
  await wallet.close();
});

test('by keyboard alone: Reject rejects, and Escape neither approves nor rejects', async () => {
  const { wallet, terminal, tap } = await askingWallet();
  const { page } = wallet;
  await tap();
  await reject(page).waitFor();
  await page.keyboard.press('Escape');
  await reject(page).waitFor();
  await reject(page).focus();
  await page.keyboard.press('Enter');
  await ended(page, 'Rejected').waitFor();
  assert.equal(await paid(terminal), 0);
  wallet.checkClean();
  await wallet.close();
});

test('a reload in the middle rings again, with the time that is left', async () => {
  const { wallet, terminal, tap } = await askingWallet();
  const { page } = wallet;
  await tap();
  await approve(page).waitFor();
  await page.reload();
  await approve(page).dblclick();
  await ended(page, 'Paid').waitFor();
  assert.equal(await paid(terminal), 1);
  wallet.checkClean();
  await wallet.close();
});

test('an approval whose response was lost is sent again, and pays once', async () => {
  const { wallet, terminal, tap } = await askingWallet();
  const { page } = wallet;
  let lost = 0;
  await page.route('**/confirmations/*/approve', async (route) => {
    if (lost++ > 0) return route.continue();
    await route.fetch();
    await route.abort();
  });
  await tap();
  await approve(page).click();
  await ended(page, 'Paid').waitFor();
  assert.ok(lost >= 2, 'it was sent again');
  assert.equal(await paid(terminal), 1);
  await wallet.close();
});

test('a stale window cannot answer a request again', async () => {
  const { wallet, terminal, tap } = await askingWallet();
  const { page } = wallet;
  // Disconnects this window once it has received the confirmation request.
  let request: unknown = null;
  await page.route('**/payer/v1/updates?*', async (route) => {
    if (request === null) {
      const response = await route.fetch();
      const body = (await response.json()) as { confirmations: unknown[] };
      if (body.confirmations.length > 0) request = body;
      return route.fulfill({ response, json: body });
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
    return route.fulfill({ json: request });
  });
  await page.reload();
  await page.getByLabel('Each day').waitFor();
  const intent = await tap();
  await approve(page).waitFor();
  const path = `/test_helpers/payment_intents/${intent}/payer_confirm`;
  await postAsMerchant(stage().sandbox, path, { approve: false });
  await approve(page).click();
  await ended(page, 'Not paid').waitFor();
  assert.equal(await paid(terminal), 0);
  await wallet.close();
});
