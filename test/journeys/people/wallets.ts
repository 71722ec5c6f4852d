import assert from 'node:assert/strict';
import { generatePrivateKey } from 'viem/accounts';
import { PHONE } from '../../../web/testing/browser.ts';
import { askForPayment } from '../../../web/testing/payer.ts';
import { addTestTerminal, paymentsOf } from '../../../web/testing/till.ts';
import {
  addPass,
  allowPayments,
  createWallet,
  fundWallet,
  importWallet,
  openWallet,
  showCode,
  tapPass,
  WALLET_PASSWORD,
  walletOf,
} from '../../../web/testing/wallet.ts';
import type { Journey } from './journey.ts';

/** Journeys that start with the customer. */

const lostPhone: Journey = {
  name: 'a lost phone: its pass ends from another one',
  width: 390,
  run: async ({ sandbox, browser }) => {
    const terminal = await addTestTerminal(sandbox);
    const key = generatePrivateKey();
    const lost = await openWallet(browser, sandbox, PHONE);
    await importWallet(lost, key);
    await fundWallet(lost);
    await allowPayments(lost);
    const pass = await addPass(lost, 'Keyring');
    browser.startOver();
    const other = await openWallet(browser, sandbox, PHONE);
    await importWallet(other, key);
    await other.goTo('Passes');
    await other.button(/^Revoke Keyring/).click();
    await other
      .dialog()
      .getByRole('button', { name: /^Revoke/ })
      .click();
    await other.sees('Revoked');
    const tapped = await tapPass(sandbox, { terminal, pass, amount: 1_000_000 });
    assert.equal(tapped.status, 'requires_payment_method');
    await other.close();
    await lost.close();
  },
};

const wayBack: Journey = {
  name: 'the way back to the payment after Set up a wallet',
  width: 390,
  run: async ({ sandbox, browser }) => {
    const terminal = await addTestTerminal(sandbox);
    const { url } = await askForPayment(sandbox, terminal);
    const wallet = walletOf(await browser.open(PHONE));
    await wallet.page.goto(url);
    await wallet.page.getByRole('link', { name: 'Set up a wallet' }).click();
    await createWallet(wallet);
    await fundWallet(wallet);
    await wallet.page.getByRole('link', { name: 'Back to the payment' }).click();
    await wallet.field('Wallet password').fill(WALLET_PASSWORD);
    await wallet.button(/^Pay /).click();
    await wallet.page.getByText('Paid', { exact: true }).first().waitFor();
    assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
    await wallet.close();
  },
};

const code: Journey = {
  name: 'from the wallet’s first page to a code that pays',
  width: 390,
  run: async ({ sandbox, browser }) => {
    const terminal = await addTestTerminal(sandbox);
    const wallet = await openWallet(browser, sandbox, PHONE);
    await createWallet(wallet);
    await fundWallet(wallet);
    await allowPayments(wallet);
    await addPass(wallet, 'Keyring');
    await wallet.goTo('Home');
    browser.startOver();
    await showCode(wallet);
    const value = await wallet.field('Code').inputValue();
    const credential = { type: 'qr', value };
    const paid = await tapPass(sandbox, { terminal, credential, amount: 1_000_000 });
    assert.equal(paid.status, 'succeeded');
    await wallet.close();
  },
};

const sendAndReceive: Journey = {
  name: 'USDC from one wallet to another',
  width: 390,
  quick: true,
  run: async ({ sandbox, browser }) => {
    const [from, to] = [
      await openWallet(browser, sandbox, PHONE),
      await openWallet(browser, sandbox, PHONE),
    ];
    await createWallet(from);
    await fundWallet(from);
    await createWallet(to);
    browser.startOver();
    await to.button(/^Receive/).click();
    const address = await to.field('Wallet address').inputValue();
    await to.button(/^Close/).click();
    await from.button(/^Send$/).click();
    await from.field('Recipient').fill(address);
    await from.field('Amount (USDC)').fill('2.50');
    await from.button(/^Review/).click();
    await from.field('Wallet password').fill(WALLET_PASSWORD);
    await from.button(/^Send 2\.50 USDC/).click();
    await to.page.getByLabel('Balance').getByText('2.50').waitFor();
    await from.page.getByLabel('Balance').getByText('97.50').waitFor();
    await from.close();
    await to.close();
  },
};

export const WITH_A_WALLET: readonly Journey[] = [lostPhone, wayBack, code, sendAndReceive];
