import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DESKTOP, looksToRun, PHONE } from '../testing/browser.ts';
import { checkStill, measureFirstLoad } from '../testing/payload.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import {
  addPass,
  allowPayments,
  createWallet,
  fundWallet,
  openWallet,
  tapPass,
  WALLET_PASSWORD,
  walletOf,
} from '../testing/wallet.ts';

/**
 * The limit is 130 kB in each language. English must leave room for languages with longer texts.
 */
const BUDGETS = { en: 128_950, qps: 130_000 } as const;

const stage = sharedStage();

const LOOKS = [
  { name: 'phone, light', options: { ...PHONE, colorScheme: 'light' as const } },
  { name: 'desktop, dark', options: { ...DESKTOP, colorScheme: 'dark' as const } },
];

for (const { name, options } of looksToRun(LOOKS)) {
  test(`a stranger makes a wallet, allows payments, and pays with a tap: ${name}`, async () => {
    const { sandbox, browser } = stage();
    const terminal = await addTestTerminal(sandbox);
    const wallet = await openWallet(browser, sandbox, options);
    await wallet.button(/^Import wallet/).waitFor();
    await wallet.checkAccessibility();
    await createWallet(wallet);
    await wallet.sees('Payments are not allowed yet');
    await wallet.checkAccessibility();
    await fundWallet(wallet);
    await wallet.button(/^Allow payments/).click();
    await wallet.sees(/shops may take up to 50.00 USDC per payment and 200.00 USDC per day/);
    await wallet.checkAccessibility();
    await wallet.button(/^Not now/).click();
    await allowPayments(wallet);

    const pass = await addPass(wallet, 'Keyring');
    await wallet.sees('Keyring');
    await wallet.checkAccessibility();
    const paid = await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
    assert.equal(paid.status, 'succeeded');
    await wallet.goTo('History');
    await wallet.button(/^2\.51 USDC$/).click();
    await wallet.sees('Exact amount: 2.511250 USDC');
    await wallet.checkAccessibility();

    await wallet.goTo('Passes');
    await wallet.button(/^Revoke Keyring/).click();
    await wallet.checkAccessibility();
    await wallet.button(/^Revoke pass/).click();
    await wallet.page.getByText('Revoked', { exact: true }).waitFor();
    const refused = await tapPass(sandbox, { terminal, pass, amount: 1_000_000 });
    assert.equal(refused.status, 'requires_payment_method', 'a revoked pass pays nothing');
    wallet.checkClean();
    await wallet.close();
  });
}

test('the browser is asked to keep the wallet, and the page names one that was lost', async () => {
  const { sandbox, browser } = stage();
  const wallet = walletOf(await browser.open(PHONE));
  const { page } = wallet;
  await page.addInitScript(`navigator.storage.persist = async () => {
    sessionStorage.setItem('asked to last', 'yes');
    return true;
  };`);
  await page.goto(`${sandbox.web_url}/wallet`);
  await createWallet(wallet);
  assert.equal(await page.evaluate(`sessionStorage.getItem('asked to last')`), 'yes');
  const vault = await page.evaluate<string>(`localStorage.getItem('tapline.wallet.vault')`);
  const { address } = JSON.parse(vault) as { address: string };
  // Deletes the storage that Safari deletes if a site was not visited for seven days.
  await page.evaluate(`localStorage.clear()`);
  await page.reload();
  await wallet.sees(`This browser held a wallet ending in ${address.slice(-4).toLowerCase()}`);
  await wallet.checkAccessibility();
  wallet.checkClean();
  await wallet.close();
});

test('the first load stays within its budget, before and after there is a wallet', async () => {
  const { sandbox, browser } = stage();
  const url = `${sandbox.web_url}/wallet`;
  const wallet = await openWallet(browser, sandbox, {
    ...DESKTOP,
    serviceWorkers: 'block',
  });
  const fresh = await measureFirstLoad(wallet, url);
  await checkStill(wallet);
  await createWallet(wallet);
  const signedIn = await measureFirstLoad(wallet, url);
  await checkStill(wallet);
  const pseudo = await measureFirstLoad(wallet, `${url}?lang=qps`);
  for (const bytes of [fresh, signedIn]) {
    assert.ok(bytes > 10_000, 'something was measured');
    assert.ok(bytes <= BUDGETS.en, `${bytes} bytes`);
  }
  assert.ok(pseudo <= BUDGETS.qps, `${pseudo} bytes in a language with long words`);
  await wallet.close();
});

test('a session outlives a reload, and the password opens the next one', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox);
  const { page } = wallet;
  await createWallet(wallet);
  await page.reload();
  await page.getByLabel('Balance').waitFor();
  await page.evaluate(() => localStorage.setItem('tapline.wallet.sessions', '{}'));
  await page.reload();
  await wallet.field('Wallet password').fill('something else');
  await wallet.button(/^Sign in/).click();
  await wallet.sees('That isn’t this wallet’s password.');
  await wallet.checkAccessibility();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByLabel('Balance').waitFor();
  wallet.checkClean();
  await wallet.close();
});
