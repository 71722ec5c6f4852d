import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import {
  createWallet,
  fundWallet,
  openWallet,
  readyWallet,
  tapPass,
  WALLET_PASSWORD,
} from '../testing/wallet.ts';

const stage = sharedStage();

const APPROVALS = '**/payer/v1/approvals';

function declineOf(intent: Record<string, unknown>): unknown {
  return (intent.last_payment_error as { decline_code: string } | null)?.decline_code;
}

test('limits can be tightened immediately, changed on the chain, and set to zero', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet, pass } = await readyWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await wallet.goTo('Limits');
  await page.getByRole('heading', { name: 'Spending limits' }).waitFor();
  await page.getByRole('textbox', { name: 'Each payment' }).fill('1');
  await wallet.checkAccessibility();
  await wallet.button(/^Save limits/).click();
  await wallet.sees('Your limits are now in effect.');
  const above = await tapPass(sandbox, { terminal, pass, amount: 2_000_000 });
  assert.equal(declineOf(above), 'limit_exceeded');

  await wallet.button(/^Change limits/).click();
  await wallet.field('Maximum per payment').fill('5');
  await wallet.inDialog(/^Change limits/).click();
  await page.getByRole('definition').getByText('5.00').waitFor();

  // A reload locks the key: the sheet asks for the password and rejects a wrong one.
  await page.reload();
  await wallet.button(/^Stop all payments/).click();
  await wallet.checkAccessibility();
  await wallet.field('Wallet password').fill('not that one, sorry');
  const stop = wallet.inDialog(/^Stop all payments/);
  await stop.click();
  await wallet.sees('That isn’t this wallet’s password.');
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await page.keyboard.press('Enter');
  await wallet.sees('Nothing can be taken from this wallet.');
  const stopped = await tapPass(sandbox, { terminal, pass, amount: 500_000 });
  assert.equal(declineOf(stopped), 'approval_insufficient');
  wallet.checkClean();
  await wallet.close();
});

test('an approval with a lost response, or cut off by a reload, is made once', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox);
  const { page } = wallet;
  await createWallet(wallet);
  await fundWallet(wallet);
  let sends = 0;
  await page.route(APPROVALS, async (route) => {
    if (route.request().method() !== 'POST' || sends++ > 0) return route.continue();
    await route.fetch();
    await route.abort();
  });
  await wallet.button(/^Allow payments/).click();
  await wallet.inDialog(/^Allow payments/).click();
  await wallet.sees('Ready to pay');

  await wallet.goTo('Limits');
  await wallet.button(/^Change limits/).click();
  await wallet.field('Maximum per day').fill('60');
  // The service processes the request, but the page closes before the response.
  const { promise: sent, resolve } = Promise.withResolvers<void>();
  await page.unroute(APPROVALS);
  await page.route(APPROVALS, async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch();
    resolve();
  });
  await wallet.inDialog(/^Change limits/).click();
  await sent;
  await page.reload();
  await page.getByRole('definition').getByText('60.00').waitFor();
  await wallet.close();
});
