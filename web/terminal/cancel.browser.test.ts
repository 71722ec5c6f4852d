import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import {
  newTill,
  openDisplay,
  paymentsOf,
  postAsMerchant,
  type TillWindow,
} from '../testing/till.ts';
import { askFirst, readyWallet } from '../testing/wallet.ts';

const stage = sharedStage();

/** Maximum time until each of the three screens is visible, as promised to the cashier. */
const SHOWN_MS = 1_000;

/** Taps with a pass whose payer must confirm, so that the payment waits. */
async function tapAsking(till: TillWindow, terminal: string, pass: string): Promise<void> {
  const { sandbox } = stage();
  const intent = await postAsMerchant(sandbox, '/payment_intents', { amount: 2_500_000, terminal });
  await postAsMerchant(sandbox, `/test_helpers/terminals/${terminal}/tap`, {
    payment_intent: intent.id,
    credential: { type: 'nfc_id', value: pass },
  });
  await till.result('Waiting for the customer to confirm').waitFor();
}

async function allShow(places: readonly Locator[]): Promise<void> {
  const from = performance.now();
  await Promise.all(places.map((target) => target.waitFor({ timeout: 2 * SHOWN_MS })));
  const tookMs = performance.now() - from;
  assert.ok(tookMs < SHOWN_MS, `${Math.round(tookMs)} ms`);
}

test('a cancel during the confirmation wins on all screens, or loses to the approval', async () => {
  const { sandbox, browser, till, terminal } = await newTill(stage());
  const display = await openDisplay(till);
  await till.page.getByRole('link', { name: 'Keypad' }).click();
  const { wallet, pass } = await readyWallet(browser, sandbox, PHONE);
  await askFirst(wallet);
  await tapAsking(till, terminal.id, pass);
  await wallet.button(/^Approve/).waitFor();
  await till.checkAccessibility();
  await till.cancel.click();
  const said = (word: string) =>
    wallet.page.getByRole('status').filter({ has: wallet.page.getByText(word, { exact: true }) });
  await allShow([
    till.result('Canceled'),
    display.getByRole('status').getByText('Canceled', { exact: true }),
    said('Canceled'),
  ]);
  await wallet.button(/^Done/).click();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 0);
  await till.newPayment.click();

  await tapAsking(till, terminal.id, pass);
  await wallet.button(/^Approve/).waitFor();
  // The payer approves before the cancel request arrives.
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await till.page.route('**/cancel', async (route) => {
    await held;
    await route.continue();
  });
  await till.cancel.click();
  await wallet.button(/^Approve/).click();
  await said('Paid').waitFor();
  release();
  await allShow([
    till.result('Paid'),
    display.getByRole('status').getByText('Paid', { exact: true }),
  ]);
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await Promise.all([till.close(), wallet.close()]);
});
