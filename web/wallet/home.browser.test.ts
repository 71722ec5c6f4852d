import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { addressIn } from '../testing/browser-wallet.ts';
import { addCamera } from '../testing/detecting-camera.ts';
import { askForPayment } from '../testing/payer.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import {
  createWallet,
  fundWallet,
  openWallet,
  readyWallet,
  tapPass,
  WALLET_PASSWORD,
  type WalletWindow,
  walletOf,
} from '../testing/wallet.ts';

const stage = sharedStage();

/** An address that no test wallet has. */
const FRIEND = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
/** The requests that fail while the network is cut. */
const OFFLINE = /ERR_INTERNET_DISCONNECTED|Failed to load resource/;

const payControls = ({ page }: WalletWindow) =>
  page.getByRole('button', { name: /^Pay/ }).or(page.getByRole('link', { name: /^Pay/ }));

test('Pay comes first and shows a code; offline only what works is offered', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox, PHONE);
  const { page, context } = wallet;
  await createWallet(wallet);
  assert.equal(await payControls(wallet).count(), 1);
  assert.equal(await page.getByRole('navigation').locator('a svg').count(), 5);
  await fundWallet(wallet);
  await wallet.button(/^Pay/).click();
  await wallet.inDialog(/^Show code/).click();
  await wallet.inDialog(/^Allow payments/).click();
  await wallet.inDialog(/^Show code/).click();
  await page.getByRole('img', { name: 'Code for the till' }).waitFor();
  await wallet.checkAccessibility();
  await wallet.button(/^Close/).click();
  await wallet.goTo('Passes');
  await wallet.sees('This phone');
  assert.equal(await payControls(wallet).count(), 0);
  await wallet.goTo('Home');
  await page.evaluate(() => navigator.serviceWorker.ready);

  await context.setOffline(true);
  await page.getByRole('status').filter({ hasText: 'Offline' }).waitFor();
  assert.ok(await wallet.button(/^Send/).isDisabled());
  await wallet.button(/^Pay/).click();
  await wallet.inDialog(/^Pay offline/).waitFor();
  assert.equal(await wallet.button(/^Show code/).count(), 0);
  await wallet.checkAccessibility();
  await wallet.button(/^Close/).click();
  await page.reload();
  await page.getByLabel('Balance').getByText('100.00').waitFor();
  assert.ok(await wallet.button(/^Send/).isDisabled());
  await wallet.button(/^Receive/).click();
  assert.equal(await wallet.field('Wallet address').inputValue(), await addressIn(page));
  await wallet.sees(/^Only USDC on /);
  await wallet.button(/^Close/).click();
  await wallet.button(/^Pay/).click();
  await wallet.inDialog(/^Pay offline/).click();
  await page.getByRole('heading', { name: 'Pay offline', level: 1 }).waitFor();
  wallet.checkClean(OFFLINE);
  await wallet.close();
});

test('the balance has its value in the currency that the reader chose', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox);
  await createWallet(wallet);
  await fundWallet(wallet);
  await wallet.goTo('Settings');
  await wallet.page.getByRole('combobox', { name: /^Currency/ }).selectOption('eur');
  await wallet.checkAccessibility();
  await wallet.goTo('Home');
  await wallet.page
    .getByLabel('Balance')
    .getByText(/^≈ €\d+\.\d\d$/)
    .waitFor();
  await wallet.closeClean();
});

test('a scanned address is sent to, a pay link opens, and other codes do nothing', async () => {
  const { sandbox, browser } = stage();
  const { url } = await askForPayment(sandbox, await addTestTerminal(sandbox));
  const friend = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';
  const wallet = await openWallet(browser, sandbox, PHONE);
  await createWallet(wallet);
  await fundWallet(wallet);
  const scanned = async (code: string) => {
    const page = await wallet.context.newPage();
    await addCamera(page, code);
    await page.goto(`${sandbox.web_url}/wallet`);
    const window = walletOf({ ...wallet, page });
    await window.button(/^Scan/).click();
    return window;
  };
  const send = await scanned(`ethereum:${friend}`);
  await send.dialog().getByLabel('Recipient').waitFor();
  assert.equal(await send.field('Recipient').inputValue(), friend);
  const pay = await scanned(url);
  await pay.page.waitForURL(url);
  const other = await scanned(`ethereum:${friend}@1`);
  await other.sees(/for a different network/);
  await other.checkAccessibility();
  await wallet.close();
});

test('History has every movement: test USDC, payments and what was sent', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet, pass } = await readyWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await wallet.goTo('History');
  const row = (title: string) => page.locator('.payment').filter({ hasText: title });
  await row('Test USDC').getByText('100.00').waitFor();
  const paid = await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
  assert.equal(paid.status, 'succeeded');
  await row('Demo Coffee').getByRole('link', { name: 'Receipt' }).waitFor();
  await wallet.goTo('Home');
  await wallet.button(/^Send$/).click();
  await wallet.field('Recipient').fill(FRIEND);
  await wallet.field('Amount (USDC)').fill('3.00');
  await wallet.button(/^Review/).click();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await page.getByRole('button', { name: /^Send 3\.00 USDC/ }).click();
  await wallet.sees('Sent. It has left the wallet.');
  await wallet.goTo('History');
  await row('Sent').getByText('3.00').waitFor();
  await row('Sent').getByText('ending in b906').waitFor();
  assert.deepEqual(
    await page.locator('.payment').evaluateAll((all) => all.map((one) => one.children.length)),
    [2, 2, 2],
  );
  await page.getByText('Complete since').waitFor();
  await wallet.checkAccessibility();
  await wallet.closeClean();
});
