import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { changeAnswers } from '../testing/network-faults.ts';
import { askForPayment, fundedAccount, injectWallet } from '../testing/payer.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, paymentsOf } from '../testing/till.ts';
import {
  allowPayments,
  createWallet,
  fundWallet,
  openWallet,
  WALLET_PASSWORD,
  type WalletWindow,
} from '../testing/wallet.ts';

const STRANGER = `0x${'66'.repeat(20)}`;

const stage = sharedStage();

/** Makes the service name these contracts. @returns a function that restores its responses. */
async function nameOthers({ page }: WalletWindow, change: Readonly<Record<string, unknown>>) {
  const path = '**/api/payer/v1/approvals';
  await changeAnswers(page, path, (answer) => ({ ...answer, ...change }));
  return () => page.unroute(path);
}

test('a permit for an unknown contract is never signed: the change is shown instead', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  const sent: string[] = [];
  page.on('request', (request) => {
    if (/\/approvals$/.test(request.url()) && request.method() === 'POST') sent.push(request.url());
  });
  await createWallet(wallet);
  await fundWallet(wallet);
  const domain = { name: 'Something else', version: '2' };
  for (const change of [{ settlement: STRANGER }, { usdc: STRANGER }, { usdc_domain: domain }]) {
    const restore = await nameOthers(wallet, change);
    await wallet.button(/^Allow payments/).click();
    const sheet = wallet.dialog();
    await sheet.getByRole('button', { name: /^Allow payments/ }).click();
    await sheet
      .getByText(/reports different contracts or higher fees .* nothing was signed/)
      .waitFor();
    await sheet.getByRole('button', { name: /^Not now/ }).click();
    await restore();
  }
  assert.deepEqual(sent, [], 'nothing was signed, so there was nothing to send');
  await wallet.checkAccessibility();
  await page.getByRole('link', { name: /^Compare contracts/ }).click();
  await wallet.sees('What the service reports now');
  await wallet.sees('Something else');
  await wallet.checkAccessibility();
  await page.getByRole('link', { name: /^Back to the wallet/ }).click();
  await allowPayments(wallet);
  assert.equal(
    await page.getByText(/^The service now reports/).count(),
    0,
    'the old ones are back',
  );
  assert.equal(sent.length, 1);
  await wallet.close();
});

test('new contracts are trusted after a comparison, with a check box and a click', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox);
  const { page } = wallet;
  await createWallet(wallet);
  await fundWallet(wallet);
  // Simulates that a contract known to this browser was replaced.
  await page.evaluate((old) => {
    const name = 'tapline.wallet.chains';
    const { testnet } = JSON.parse(localStorage.getItem(name) ?? '{}');
    localStorage.setItem(name, JSON.stringify({ testnet: { ...testnet, settlement: old } }));
  }, STRANGER);
  await page.reload();
  await wallet.button(/^Allow payments/).click();
  await wallet.inDialog(/^Allow payments/).click();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.inDialog(/^Allow payments/).click();
  await wallet
    .dialog()
    .getByText(/nothing was signed/)
    .waitFor();
  await wallet.button(/^Not now/).click();
  await page.getByRole('link', { name: /^Compare contracts/ }).click();
  await wallet.button(/^Trust the new contracts/).click();
  const trust = wallet.inDialog(/^Trust the new contracts/);
  await trust.click();
  await wallet.sees('Check the box first.');
  await wallet.checkAccessibility();
  await page.getByRole('checkbox', { name: /^I have compared/ }).check();
  await trust.click();
  await wallet.sees('This wallet used to sign for');
  const end = page.getByRole('link', { name: /^you end it/ });
  assert.match(String(await end.getAttribute('href')), new RegExp(STRANGER, 'i'));
  await wallet.checkAccessibility();
  await page.getByRole('link', { name: /^Back to the wallet/ }).click();
  await allowPayments(wallet);
  await wallet.close();
});

test('raised fees stop the wallet and the pay page, and are shown', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await createWallet(wallet);
  await fundWallet(wallet);
  await allowPayments(wallet);
  const raised = { acquirer: 4_000, protocol: 1_000, cashback: 0 };
  const restore = await nameOthers(wallet, { fee_rates: raised });
  await wallet.goTo('Limits');
  await wallet.button(/^Change limits/).click();
  const sheet = wallet.dialog();
  await sheet.getByRole('button', { name: /^Change limits/ }).click();
  await sheet.getByText(/higher fees .* nothing was signed/).waitFor();
  await sheet.getByRole('button', { name: /^Not now/ }).click();
  await page.getByRole('link', { name: /^Compare contracts/ }).click();
  await wallet.sees('50 %');
  await wallet.checkAccessibility();
  await restore();
  await wallet.close();

  const window = await browser.open(PHONE);
  const injected = await injectWallet(window, sandbox, await fundedAccount(sandbox, 10_000_000n));
  const terminal = await addTestTerminal(sandbox);
  const pay = window.page.getByRole('button', { name: /^Pay / });
  await window.page.goto((await askForPayment(sandbox, terminal)).url);
  await pay.click();
  await window.page.getByText('Paid', { exact: true }).waitFor();
  await window.page.evaluate(() => {
    // Simulates an earlier payment at lower fees.
    const name = 'tapline.wallet.chains';
    const { testnet } = JSON.parse(localStorage.getItem(name) ?? '{}');
    localStorage.setItem(name, JSON.stringify({ testnet: { ...testnet, feeRate: 1 } }));
  });
  await window.page.goto((await askForPayment(sandbox, terminal)).url);
  await pay.click();
  await window.page.getByText(/or higher fees/).waitFor();
  const signed = injected.asked.filter((method) => method === 'eth_signTypedData_v4').length;
  assert.equal(signed, 1, 'only the first was signed');
  await window.close();
});

test('the pay page asks no wallet to sign for contracts that are new to this browser', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const window = await browser.open(PHONE);
  const { page } = window;
  const wallet = await injectWallet(window, sandbox, await fundedAccount(sandbox, 10_000_000n));
  const pay = page.getByRole('button', { name: /^Pay / });
  const first = await askForPayment(sandbox, terminal);
  await page.goto(first.url);
  await pay.click();
  await page.getByText('Paid', { exact: true }).waitFor();
  const signed = () => wallet.asked.filter((method) => method === 'eth_signTypedData_v4').length;
  assert.equal(signed(), 1, 'the first use pins');

  // Responds with terms that are consistent, so that the page alone could not distinguish them from
  // honest ones.
  await changeAnswers(
    page,
    '**/api/pay/v1/**',
    (link: { typed_data: { message: object } | null }) => {
      const typed = link.typed_data;
      const message = { ...typed?.message, to: STRANGER };
      const data = typed === null ? null : { ...typed, message };
      return { ...link, settlement: STRANGER, typed_data: data };
    },
  );
  const second = await askForPayment(sandbox, terminal);
  await page.goto(second.url);
  await pay.click();
  await page
    .getByText(/different contracts or higher fees than this browser has on record/)
    .waitFor();
  await window.checkAccessibility();
  assert.equal(signed(), 1);
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await page.getByRole('link', { name: /^Compare contracts/ }).click();
  await page.getByText(STRANGER).waitFor();
  await window.close();
});
