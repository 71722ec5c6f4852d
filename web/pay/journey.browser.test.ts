import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DESKTOP, looksToRun, PHONE, type TestWindow } from '../testing/browser.ts';
import { changeAnswers } from '../testing/network-faults.ts';
import { askForPayment, fund, fundedAccount, injectWallet, payLinkOf } from '../testing/payer.ts';
import { checkStill, measureFirstLoad } from '../testing/payload.ts';
import { sharedStage } from '../testing/stage.ts';
import {
  addTestTerminal,
  intentsOf,
  newTill,
  paymentsOf,
  postAsMerchant,
  resultIn,
} from '../testing/till.ts';
import {
  createWallet,
  fundWallet,
  openWallet,
  WALLET_PASSWORD,
  walletOf,
} from '../testing/wallet.ts';

/** React alone takes 68 kB of this. */
const BUDGET_BYTES = 92_000;
const PULLED = 2_511_250n;

const stage = sharedStage();

const payButton = ({ page }: TestWindow) => page.getByRole('button', { name: /^Pay / });

const result = ({ page }: TestWindow, word: string) => resultIn(page, word);

const LOOKS = [
  { name: 'desktop, dark', options: { ...DESKTOP, colorScheme: 'dark' as const } },
  { name: 'phone, light', options: { ...PHONE, colorScheme: 'light' as const } },
];

for (const { name, options } of looksToRun(LOOKS)) {
  test(`a stranger with a wallet pays the amount on the till: ${name}`, async () => {
    const { sandbox, browser, till, terminal } = await newTill(stage());
    await till.ask('2.50');
    const code = till.page.getByRole('link', { name: /pay/i }).or(till.page.getByRole('img'));
    await code.first().waitFor();
    const [intent] = await intentsOf(sandbox, terminal);
    const window = await browser.open(options);
    await injectWallet(window, sandbox, await fundedAccount(sandbox, PULLED));
    await window.page.goto(await payLinkOf(sandbox, terminal, intent?.id));
    await payButton(window).waitFor();
    await window.checkAccessibility();
    assert.match((await payButton(window).textContent()) ?? '', /^Pay 2\.51 USDC to .+$/);
    await payButton(window).press('Enter');
    await result(window, 'Paid').waitFor();
    await window.checkAccessibility();
    await till.result('Paid').waitFor();
    const payments = await paymentsOf(sandbox, terminal);
    const receipt = window.page.getByRole('link', { name: 'Receipt' });
    assert.equal(await receipt.getAttribute('href'), payments[0]?.receipt_url);
    assert.deepEqual(payments[0]?.payment_method, { type: 'wallet', credential: 'authorization' });
    window.checkClean();
    await till.close();
    await window.close();
  });
}

async function openLink(usdc: bigint, body: Readonly<Record<string, unknown>> = {}) {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const payment = await askForPayment(sandbox, terminal, body);
  const window = await browser.open();
  const wallet = await injectWallet(window, sandbox, await fundedAccount(sandbox, usdc));
  return { ...payment, terminal, window, wallet };
}

test('the wallet of this site pays once its password is entered', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { url } = await askForPayment(sandbox, terminal);
  const wallet = await openWallet(browser, sandbox, PHONE);
  await createWallet(wallet);
  await fundWallet(wallet);
  await wallet.page.goto(url);
  await payButton(wallet).waitFor();
  await wallet.checkAccessibility();
  await wallet.field('Wallet password').fill('not the password');
  await payButton(wallet).click();
  await wallet.sees('That isn’t this wallet’s password.');
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await payButton(wallet).click();
  await result(wallet, 'Paid').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await wallet.close();
});

test('a customer who creates a wallet first returns to the payment and pays it', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { url } = await askForPayment(sandbox, terminal);
  const wallet = walletOf(await browser.open(PHONE));
  await wallet.page.goto(url);
  await wallet.page.getByRole('link', { name: 'Set up a wallet' }).click();
  await createWallet(wallet);
  await fundWallet(wallet);
  await wallet.button(/^Receive/).click();
  await wallet.page.getByRole('img', { name: 'The address of this wallet' }).waitFor();
  await wallet.checkAccessibility();
  await wallet.button(/^Close/).click();
  await wallet.page.getByRole('link', { name: 'Back to the payment' }).click();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await payButton(wallet).click();
  await result(wallet, 'Paid').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await wallet.page.goto(`${sandbox.web_url}/wallet?back=https://elsewhere.example/`);
  await wallet.page.getByLabel('Balance').waitFor();
  assert.equal(await wallet.page.getByRole('link', { name: /^Back/ }).count(), 0);
  await wallet.close();
});

test('a tip is a separate step, and part of the signed message', async () => {
  const { window, url, terminal } = await openLink(PULLED * 2n, {
    tipping: { percentages: [10, 15] },
  });
  await window.page.goto(url);
  await window.page.getByRole('radio', { name: /^10 %/ }).check();
  await window.checkAccessibility();
  await window.page.getByRole('button', { name: /^Add tip/ }).click();
  await payButton(window).waitFor();
  assert.match((await payButton(window).textContent()) ?? '', /^Pay 2\.76 USDC to /);
  await payButton(window).click();
  await result(window, 'Paid').waitFor();
  const [payment] = await paymentsOf(stage().sandbox, terminal);
  assert.deepEqual([payment?.amount, payment?.tip], [2_750_000, 250_000]);
  await window.close();
});

test('a wrong network or too little USDC is reported before anything is signed', async () => {
  const { window, wallet, url } = await openLink(1_000_000n);
  wallet.chainId = 1;
  wallet.canSwitch = false;
  await window.page.goto(url);
  await payButton(window).click();
  await window.page.getByText(/Your wallet is on Ethereum/).waitFor();
  wallet.canSwitch = true;
  await payButton(window).click();
  await window.page.getByText(/This wallet holds 1\.00 USDC/).waitFor();
  await window.checkAccessibility();
  assert.equal(wallet.asked.includes('eth_signTypedData_v4'), false);
  await window.close();
});

test('a customer who rejects in the wallet is charged nothing, and may try again', async () => {
  const { window, wallet, url } = await openLink(PULLED);
  wallet.refuse = true;
  await window.page.goto(url);
  await payButton(window).click();
  await window.page.getByText(/You did not approve this payment/).waitFor();
  wallet.refuse = false;
  await payButton(window).click();
  await result(window, 'Paid').waitFor();
  await window.close();
});

test('a service that asks to sign a different message gets no signature', async () => {
  const { window, wallet, url } = await openLink(PULLED);
  for (const [field, value] of [
    ['to', `0x${'11'.repeat(20)}`],
    ['nonce', `0x${'22'.repeat(32)}`],
    ['value', 2_511_251],
  ] as const) {
    type Link = { readonly typed_data: { readonly message: object } };
    await changeAnswers(window.page, /\/api\/pay\/v1\/.*from=/, (link: Link) => {
      const message = { ...link.typed_data.message, [field]: value };
      return { ...link, typed_data: { ...link.typed_data, message } };
    });
    await window.page.goto(url);
    await payButton(window).click();
    await window.page.getByText(/does not match this page/).waitFor();
    await window.page.unrouteAll();
  }
  assert.equal(wallet.asked.includes('eth_signTypedData_v4'), false);
  await window.close();
});

test('after a lost response, the same signature is sent again and charges once', async () => {
  const { window, url, terminal } = await openLink(PULLED * 2n);
  let lost = 0;
  await window.page.route('**/authorization', async (route) => {
    if (lost++ > 1) return route.continue();
    await route.fetch();
    return route.abort();
  });
  await window.page.goto(url);
  await payButton(window).click();
  await result(window, 'Checking…').waitFor();
  assert.equal(await payButton(window).count(), 0);
  await result(window, 'Paid').waitFor();
  assert.equal((await paymentsOf(stage().sandbox, terminal)).length, 1);
  await window.close();
});

test('a decline gives its reason, and the next try pays', async () => {
  const { window, url, wallet } = await openLink(0n);
  wallet.told = PULLED;
  await window.page.goto(url);
  await payButton(window).click();
  await result(window, 'Declined').waitFor();
  await window.page.getByText('There is not enough money in your wallet').waitFor();
  await window.checkAccessibility();
  await fund(stage().sandbox, wallet.account, PULLED);
  await payButton(window).click();
  await result(window, 'Paid').waitFor();
  await window.close();
});

test('a payment that is canceled or expires at the till also ends on the page', async () => {
  const { sandbox } = stage();
  const canceled = await openLink(0n);
  await canceled.window.page.goto(canceled.url);
  await payButton(canceled.window).waitFor();
  await postAsMerchant(sandbox, `/payment_intents/${canceled.id}/cancel`);
  await result(canceled.window, 'Canceled').waitFor();
  await canceled.window.close();
  const expired = await openLink(0n);
  await expired.window.page.goto(expired.url);
  await payButton(expired.window).waitFor();
  await postAsMerchant(sandbox, `/test_helpers/payment_intents/${expired.id}/expire`);
  await result(expired.window, 'Expired').waitFor();
  await expired.window.close();
});

test('without a wallet, the page says how to get one; an unknown link says so', async () => {
  const { sandbox, browser } = stage();
  const { url } = await askForPayment(sandbox, await addTestTerminal(sandbox));
  const window = await browser.open(PHONE);
  await window.page.goto(url);
  await window.page.getByText('No wallet in this browser').waitFor();
  const apps = window.page.getByRole('list', { name: 'Open in a wallet app' }).getByRole('link');
  await apps.first().waitFor();
  const [metaMask] = await apps.all();
  const address = url.replace(/^https?:\/\//, '');
  assert.equal(await metaMask?.getAttribute('href'), `https://link.metamask.io/dapp/${address}`);
  assert.equal(await apps.count(), 5);
  await window.checkAccessibility();
  await window.page.getByRole('button', { name: 'Show the QR code' }).click();
  await window.page.getByRole('img', { name: 'QR code for this page' }).waitFor();
  await window.checkAccessibility();
  await window.page.goto(`${sandbox.web_url}/pay/0000000000000000000000`);
  await window.page.getByText('Nothing to pay here').waitFor();
  await window.close();
  const desk = await browser.open();
  await desk.page.goto(url);
  await desk.page.getByRole('link', { name: 'Set up a wallet' }).waitFor();
  assert.equal(await desk.page.getByText('MetaMask').count(), 0, 'a computer has no such app');
  await desk.close();
});

test('the first load is small', async () => {
  const { window, url } = await openLink(0n);
  const bytes = await measureFirstLoad(window, url);
  assert.ok(bytes > 10_000, 'something was measured');
  assert.ok(bytes <= BUDGET_BYTES, `${bytes} bytes`);
  await checkStill(window);
  await window.close();
  const { sandbox, browser } = stage();
  const bare = await browser.open();
  const { url: other } = await askForPayment(sandbox, await addTestTerminal(sandbox));
  const withCode = await measureFirstLoad(bare, other);
  assert.ok(withCode <= BUDGET_BYTES, `${withCode} bytes`);
  await checkStill(bare);
  await bare.close();
});
