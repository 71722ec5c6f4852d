import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { addVirtualPasskeys, PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, paymentsOf } from '../testing/till.ts';
import {
  addPass,
  allowPayments,
  askFirst,
  createWallet,
  fundWallet,
  importWallet,
  openWallet,
  showCode,
  tapPass,
  WALLET_PASSWORD,
  type WalletWindow,
  walletOf,
} from '../testing/wallet.ts';

const stage = sharedStage();

/** Returns the browser's storage as text, which must never contain a key. */
function storageOf({ page }: WalletWindow): Promise<string> {
  return page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
}

async function endSessions({ page }: WalletWindow): Promise<void> {
  await page.evaluate(() => localStorage.setItem('tapline.wallet.sessions', '{}'));
  await page.reload();
}

test('an imported key is the same wallet; a wrong key is reported; by keyboard alone', async () => {
  const { sandbox, browser } = stage();
  const privateKey = generatePrivateKey();
  const { address } = privateKeyToAccount(privateKey);
  const wallet = await openWallet(browser, sandbox);
  const { page } = wallet;
  await wallet.button(/^Import wallet/).focus();
  await page.keyboard.press('Enter');
  await wallet.field('Private key').fill('');
  await page.keyboard.type(`${privateKey}00`);
  for (const text of [WALLET_PASSWORD, WALLET_PASSWORD]) {
    await page.keyboard.press('Tab');
    await page.keyboard.type(text);
  }
  await page.keyboard.press('Enter');
  await wallet.sees(/A private key has 64 characters/);
  await wallet.checkAccessibility();
  await wallet.field('Private key').fill(` ${privateKey.slice(2).toUpperCase()} `);
  await wallet.field('Repeat wallet password').fill('something different');
  await page.keyboard.press('Enter');
  await wallet.sees('The two passwords don’t match.');
  for (const field of ['Wallet password', 'Repeat wallet password']) {
    await wallet.field(field).fill('nine char');
  }
  await page.keyboard.press('Enter');
  await wallet.sees('Use at least 10 characters.');
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.field('Repeat wallet password').fill(WALLET_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByLabel('Balance').waitFor();
  const kept = await storageOf(wallet);
  assert.ok(kept.includes(address), 'the wallet is kept');
  assert.ok(!kept.toLowerCase().includes(privateKey.slice(2, 20)), 'its key is not');
  await wallet.goTo('Settings');
  assert.equal(await wallet.field('Wallet address').inputValue(), address);
  await wallet.sees('It is backed up.');
  wallet.checkClean();
  await wallet.close();
});

test('a passkey encrypts the wallet, and unlocks it again', async () => {
  const { sandbox, browser } = stage();
  // Passkeys need a host name; a numeric IP address does not work.
  const url = sandbox.web_url.replace('127.0.0.1', 'localhost');
  const wallet = walletOf(await browser.open(PHONE));
  await addVirtualPasskeys(wallet);
  await wallet.page.goto(`${url}/wallet`);
  await wallet.button(/^Create wallet/).click();
  await wallet.button(/^Use a passkey/).waitFor();
  await wallet.checkAccessibility();
  await wallet.button(/^Use a passkey/).click();
  await wallet.page.getByLabel('Balance').waitFor();
  const before = await wallet.page.evaluate(() => localStorage.getItem('tapline.wallet.vault'));
  assert.match(before ?? '', /"by":"passkey"/);
  await endSessions(wallet);
  await wallet.button(/^Sign in/).click();
  await wallet.page.getByLabel('Balance').waitFor();
  wallet.checkClean();
  await wallet.close();
});

test('a code takes one click, or the passkey each time if the user has set that', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const wallet = walletOf(await browser.open(PHONE));
  const { page } = wallet;
  await addVirtualPasskeys(wallet);
  await page.goto(`${sandbox.web_url.replace('127.0.0.1', 'localhost')}/wallet`);
  await wallet.button(/^Create wallet/).click();
  await wallet.button(/^Use a passkey/).click();
  await page.getByLabel('Balance').waitFor();
  // Simulates another person holding the phone, who cancels the passkey prompt.
  const isOwner = (yes: boolean) =>
    page.evaluate((mayUse) => {
      const no = () => Promise.reject(new DOMException('canceled', 'NotAllowedError'));
      if (mayUse) Reflect.deleteProperty(navigator.credentials, 'get');
      else Object.defineProperty(navigator.credentials, 'get', { value: no, configurable: true });
    }, yes);
  await fundWallet(wallet);
  await allowPayments(wallet);
  const pass = await addPass(wallet, 'Keyring');
  await wallet.goTo('Home');
  await showCode(wallet);
  await page.getByRole('img', { name: 'Code for the till' }).waitFor();
  await wallet.checkAccessibility();
  await wallet.button(/^Close/).click();
  await wallet.goTo('Settings');
  await page.getByRole('switch', { name: /^Ask for my passkey/ }).click();
  await page.getByRole('switch', { name: /^Ask for my passkey/, checked: true }).waitFor();
  await wallet.checkAccessibility();
  await askFirst(wallet);
  await wallet.goTo('Home');
  await isOwner(false);
  const request = await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
  assert.equal(request.status, 'requires_action');
  await wallet.button(/^Approve/).click();
  await wallet.dialog().getByText('The passkey was not used. Try again.').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 0, 'nothing was paid');
  await isOwner(true);
  await wallet.button(/^Approve/).click();
  await page.getByRole('status').getByText('Paid', { exact: true }).waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await wallet.button(/^Done/).click();
  await isOwner(false);
  await showCode(wallet);
  await wallet.sees('The passkey was not used. Try again.');
  assert.equal(await page.locator('.pass-code').count(), 0, 'no code without the passkey');
  await wallet.button(/^Close/).click();
  await wallet.goTo('Settings');
  await page.getByRole('switch', { name: /^Ask for my passkey/ }).click();
  await wallet.sees('The passkey was not used. Try again.');
  await page.getByRole('switch', { name: /^Ask for my passkey/, checked: true }).waitFor();
  await wallet.close();
});

test('a wallet without a phrase shows its key, and checks that it was kept', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await importWallet(wallet, generatePrivateKey());
  // Like a wallet from before recovery phrases that was never backed up.
  await page.evaluate(() => localStorage.setItem('tapline.wallet.backedUp', 'false'));
  await page.reload();
  await wallet.goTo('Settings');
  await wallet.sees(/It is not backed up yet/);
  assert.equal(await wallet.button(/^Recovery phrase/).count(), 0);
  await wallet.button(/^Back up wallet/).click();
  await wallet.checkAccessibility();
  await wallet.field('Wallet password').fill('not this one, no');
  await wallet.button(/^Back up: show/).click();
  await wallet.sees('That isn’t this wallet’s password.');
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await page.keyboard.press('Enter');
  const key = await wallet.field('Private key').inputValue();
  await wallet.checkAccessibility();
  await wallet.field('Last 6 characters').fill('zzzzzz');
  await page.keyboard.press('Enter');
  await wallet.sees('The characters don’t match.');
  await wallet.field('Last 6 characters').fill(key.slice(-6).toUpperCase());
  await page.keyboard.press('Enter');
  await wallet.sees('The wallet is backed up.');
  await wallet.sees(/It is backed up/);
  assert.equal(
    privateKeyToAccount(key as `0x${string}`).address,
    JSON.parse((await page.evaluate(() => localStorage.getItem('tapline.wallet.vault'))) ?? '')
      .address,
  );
  wallet.checkClean();
  await wallet.close();
});

test('the wallet password opens a screen whose PIN was forgotten', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox);
  await createWallet(wallet);
  await wallet.goTo('Settings');
  await wallet.field('PIN').fill('4711');
  await wallet.button(/^Set PIN/).click();
  await wallet.sees('The PIN is set.');
  await wallet.page.reload();
  await wallet.button(/^Forgot the PIN/).click();
  await wallet.field('Wallet password').fill('not this one either');
  await wallet.button(/^Open with your password/).click();
  await wallet.sees('That isn’t this wallet’s password.');
  await wallet.checkAccessibility();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.button(/^Open with your password/).click();
  await wallet.goTo('Home');
  await wallet.page.reload();
  await wallet.page.getByLabel('Balance').waitFor();
  wallet.checkClean();
  await wallet.close();
});

test('a PIN locks the screen; the network can be switched, and the wallet removed', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox);
  const { page } = wallet;
  await createWallet(wallet);
  await wallet.goTo('Settings');
  await wallet.field('PIN').fill('4711');
  await wallet.button(/^Set PIN/).click();
  await wallet.sees('The PIN is set.');
  await wallet.checkAccessibility();
  await page.reload();
  await wallet.field('PIN').fill('1234');
  await page.keyboard.press('Enter');
  await wallet.sees('Wrong PIN.');
  await wallet.field('PIN').fill('4711');
  await page.keyboard.press('Enter');

  const mode = page.getByRole('switch', { name: 'Test mode' });
  await mode.click();
  // The reload has locked the key, and the other network has no session yet.
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.button(/^Sign in/).click();
  await page.getByRole('switch', { name: 'Test mode', checked: false }).waitFor();
  await wallet.goTo('Home');
  await page.getByLabel('Balance').waitFor();
  assert.equal(await wallet.button(/^Get test USDC/).count(), 0, 'real money has no faucet');
  await wallet.goTo('Settings');
  await mode.click();
  await wallet.sees('Test money');

  await wallet.button(/^Remove wallet/).click();
  await wallet.sees('This wallet is not backed up.');
  await wallet.checkAccessibility();
  const remove = wallet.inDialog(/^Remove wallet/);
  await remove.click();
  await wallet.sees('Check the box first.');
  await wallet.dialog().getByRole('checkbox').check();
  await remove.click();
  await wallet.button(/^Create wallet/).waitFor();
  assert.ok(!(await storageOf(wallet)).includes('tapline.wallet'), 'nothing is left');
  wallet.checkClean();
  await wallet.close();
});

test('a token for an agent is shown once and can be revoked', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await createWallet(wallet);
  await wallet.goTo('Passes');
  await page.getByRole('link', { name: /^Tokens for AI agents/ }).click();
  await wallet.sees('No tokens yet');
  await wallet.button(/^Create a token/).click();
  const make = wallet.inDialog(/^Create a token/);
  await make.click();
  await wallet.sees('That isn’t a valid account ID. Ask the shop for it.');
  await wallet.checkAccessibility();
  await wallet.field('Shop').fill(sandbox.account);
  await wallet.field('Amount (USDC)').fill('3.50');
  await make.click();
  assert.match(await wallet.field('Agent token').inputValue(), /^agt_/);
  await wallet.button(/^Done/).click();
  await wallet.sees('Active');
  await wallet.checkAccessibility();
  await wallet.button(/^Revoke/).click();
  await page.getByText('Revoked', { exact: true }).waitFor();
  wallet.checkClean();
  await wallet.close();
});
