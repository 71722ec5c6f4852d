import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { askForPayment, fundedAccount, injectWallet } from '../testing/payer.ts';
import { openSignedIn } from '../testing/signed-in.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import { createWallet, openWallet, WALLET_PASSWORD } from '../testing/wallet.ts';

/** Tests that a double click on a button that creates or moves something acts once. */

const stage = sharedStage();
/** An unused address, with a valid checksum. */
const FRIEND = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
/** The usual time between the two clicks. */
const BETWEEN_MS = 50;

const button = (scope: Page | Locator, name: RegExp) => scope.getByRole('button', { name });

/** Double-clicks as a person would, so that the screen has time to change between the clicks. */
async function doubleClick(page: Page, control: Locator): Promise<void> {
  await control.waitFor();
  await control.scrollIntoViewIfNeeded();
  const box = await control.boundingBox();
  assert.ok(box !== null);
  const { mouse } = page;
  await mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  for (const clickCount of [1, 2]) {
    await mouse.down({ clickCount });
    await mouse.up({ clickCount });
    await page.waitForTimeout(BETWEEN_MS);
  }
}

/** Counts the page's requests that create or change something. */
function sentBy(page: Page, path: RegExp): () => number {
  let count = 0;
  page.on('request', (request) => {
    if (request.method() !== 'GET' && path.test(new URL(request.url()).pathname)) count += 1;
  });
  return () => count;
}

test('a wallet gets test USDC, adds a pass and sends once', async () => {
  const wallet = await openWallet(stage().browser, stage().sandbox);
  const { page } = wallet;
  await createWallet(wallet);
  const faucet = sentBy(page, /\/faucet$/);
  await doubleClick(page, wallet.button(/^Get test USDC/));
  await page.getByLabel('Balance').getByText('100.00').waitFor();
  assert.equal(faucet(), 1);
  await wallet.goTo('Passes');
  await wallet.button(/^Add pass/).click();
  const passes = sentBy(page, /\/passes$/);
  await doubleClick(page, button(wallet.dialog(), /^Add pass/));
  await wallet.field('Pass code').waitFor();
  assert.equal(passes(), 1);
  await wallet.button(/^Done/).click();
  await wallet.goTo('Home');
  // The second click on `Review` must not trigger the send.
  await wallet.button(/^Send$/).click();
  await wallet.field('Recipient').fill(FRIEND);
  await wallet.field('Amount (USDC)').fill('1');
  const transfers = sentBy(page, /\/transfers$/);
  await doubleClick(page, button(wallet.dialog(), /^Review/));
  await button(wallet.dialog(), /^Send 1\.00/).waitFor();
  assert.equal(transfers(), 0);
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await doubleClick(page, button(wallet.dialog(), /^Send 1\.00/));
  await page.getByLabel('Balance').getByText('99.00').waitFor();
  assert.equal(transfers(), 1);
  await wallet.close();
});

test('a pay page pays once', async () => {
  const { browser, sandbox } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { url } = await askForPayment(sandbox, terminal);
  const window = await browser.open();
  const { page } = window;
  await injectWallet(window, sandbox, await fundedAccount(sandbox, 2_511_250n));
  await page.goto(url);
  const paid = sentBy(page, /\/authorization$/);
  await doubleClick(page, button(page, /^Pay /));
  await page.getByText('Paid', { exact: true }).first().waitFor();
  assert.equal(paid(), 1);
  await window.close();
});

test('a dashboard creates one key', async () => {
  const window = await openSignedIn(stage(), 'dashboard/api-keys');
  const { page } = window;
  const dialog = page.getByRole('dialog');
  const keys = sentBy(page, /\/api_keys$/);
  await doubleClick(page, button(page, /^Create API key/).first());
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Double');
  assert.equal(keys(), 0, 'the second click hit the dialog');
  await doubleClick(page, button(dialog, /^Create API key/));
  await page
    .getByText(/^sk_test_/)
    .or(dialog.locator('input[readonly]'))
    .first()
    .waitFor();
  assert.equal(keys(), 1);
  await window.close();
});

/**
 * Taps, and taps again as soon as the action has ended. Runs in the page, because the time between
 * the taps matters.
 */
const TAPS_AGAIN = `(async (button, pauseMs, pointerType = 'touch') => {
  const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const how = { bubbles: true, cancelable: true, pointerType };
  const click = () => button.dispatchEvent(new PointerEvent('click', how));
  click();
  // React renders in the next microtask.
  await null;
  const isBusy = button.ariaBusy === 'true';
  while (button.ariaBusy === 'true') await sleep(1);
  await sleep(pauseMs);
  click();
  return isBusy;
})`;

test('a button whose action ended between the taps of a double tap acts once', async () => {
  const { browser, sandbox } = stage();
  const window = await browser.open();
  const { page } = window;
  await page.goto(`${sandbox.web_url}/dev/ui`);
  await button(page, /^Send the event again/).waitFor();
  const find = `[...document.querySelectorAll('button')].find(
    (one) => one.textContent === 'Send the event again')`;
  assert.equal(await page.evaluate(`${TAPS_AGAIN}(${find}, 1)`), true, 'it was busy');
  await page.getByText('Sent 1 times').waitFor();
  // After this pause, a click counts as a separate one.
  await page.waitForTimeout(400);
  await page.evaluate(`${TAPS_AGAIN}(${find}, 400)`);
  await page.getByText('Sent 3 times').waitFor();
  await page.waitForTimeout(400);
  await page.evaluate(`${TAPS_AGAIN}(${find}, 1, 'mouse')`);
  await page.getByText('Sent 5 times').waitFor();
  await window.close();
});
