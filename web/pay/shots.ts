import type { Page } from 'playwright-core';
import type { TestWindow } from '../testing/browser.ts';
import { changeAnswers } from '../testing/network-faults.ts';
import {
  askForPayment,
  fundedAccount,
  type InjectedWallet,
  injectWallet,
} from '../testing/payer.ts';
import { LONG_NAME, RIGHT_TO_LEFT_NAME, type Scene, type Shot } from '../testing/shots.ts';
import { addTestTerminal, postAsMerchant } from '../testing/till.ts';
import { createWallet, fundWallet, openWallet, type WalletWindow } from '../testing/wallet.ts';

const PULLED = 2_511_250n;

interface Stage extends Scene {
  readonly window: TestWindow;
  readonly wallet: InjectedWallet | null;
  readonly id: string;
  open(): Promise<void>;
  pay(): Promise<void>;
}

interface LinkShot {
  /** Balance of the injected wallet. `null` for a browser without a wallet. */
  readonly usdc?: bigint | null;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly merchant?: string;
}

function rename(page: Page, name: string): Promise<void> {
  return changeAnswers(page, '**/api/pay/v1/**', (link: { readonly merchant: object }) => ({
    ...link,
    merchant: { ...link.merchant, name },
  }));
}

function linkShot(
  name: string,
  { usdc = PULLED, body = {}, merchant }: LinkShot,
  lead: (stage: Stage) => Promise<void>,
): Shot {
  return {
    name,
    show: async (scene) => {
      const { sandbox, browser } = scene;
      const { id, url } = await askForPayment(sandbox, await addTestTerminal(sandbox), body);
      const window = await browser.open();
      const { page } = window;
      const wallet =
        usdc === null
          ? null
          : await injectWallet(window, sandbox, await fundedAccount(sandbox, usdc));
      if (merchant !== undefined) await rename(page, merchant);
      const pay = () => page.getByRole('button', { name: /^Pay / }).click();
      const open = async () => {
        await page.goto(url);
      };
      await lead({ ...scene, window, wallet, id, open, pay });
      return window;
    },
  };
}

function ownShot(name: string, lead: (wallet: WalletWindow) => Promise<void>): Shot {
  return {
    name,
    show: async ({ browser, sandbox }) => {
      const { url } = await askForPayment(sandbox, await addTestTerminal(sandbox));
      const wallet = await openWallet(browser, sandbox);
      await createWallet(wallet);
      await fundWallet(wallet);
      await wallet.page.goto(url);
      await lead(wallet);
      return wallet;
    },
  };
}

const button = ({ window }: Stage) => window.page.getByRole('button', { name: /^Pay / }).waitFor();

async function opened(stage: Stage): Promise<void> {
  await stage.open();
  await button(stage);
}

async function sees({ window }: Stage, text: string | RegExp): Promise<void> {
  await window.page.getByText(text).first().waitFor();
}

export const SHOTS: readonly Shot[] = [
  linkShot('pay', {}, opened),
  linkShot('pay-long', { merchant: LONG_NAME, body: { amount: 999_999_999_999 } }, opened),
  linkShot('pay-right-to-left', { merchant: RIGHT_TO_LEFT_NAME }, opened),
  linkShot('tip', { body: { tipping: { percentages: [10, 15, 20] } } }, async (stage) => {
    await stage.open();
    await stage.window.page.getByRole('radio', { name: /^15 %/ }).check();
  }),
  linkShot('no-wallet', { usdc: null }, async (stage) => {
    await stage.open();
    await stage.window.page.getByRole('button', { name: 'Show the QR code' }).click();
    await stage.window.page.getByRole('img', { name: 'QR code for this page' }).waitFor();
  }),
  linkShot('wrong-network', {}, async (stage) => {
    if (stage.wallet !== null) Object.assign(stage.wallet, { chainId: 1, canSwitch: false });
    await opened(stage);
    await stage.pay();
    await sees(stage, /Your wallet is on Ethereum/);
  }),
  linkShot('too-little', { usdc: 1_000_000n }, async (stage) => {
    await opened(stage);
    await stage.pay();
    await sees(stage, /This wallet holds/);
  }),
  linkShot('not-signed', {}, async (stage) => {
    if (stage.wallet !== null) stage.wallet.refuse = true;
    await opened(stage);
    await stage.pay();
    await sees(stage, /You did not sign/);
  }),
  linkShot('other-contracts', {}, async (stage) => {
    const settlement = `0x${'66'.repeat(20)}`;
    await stage.window.page.addInitScript((stranger) => {
      const known = { chainId: 1, usdc: stranger, settlement: stranger, rpcUrl: null };
      const testnet = { ...known, usdcDomain: { name: 'USDC', version: '2' } };
      localStorage.setItem('tapline.wallet.chains', JSON.stringify({ testnet }));
    }, settlement);
    await opened(stage);
    await stage.pay();
    await sees(stage, /different contracts/);
  }),
  linkShot('checking', {}, async (stage) => {
    await stage.window.page.route('**/authorization', () => {});
    await opened(stage);
    await stage.pay();
    await sees(stage, 'Checking…');
  }),
  linkShot('declined', { usdc: 0n }, async (stage) => {
    if (stage.wallet !== null) stage.wallet.told = PULLED;
    await opened(stage);
    await stage.pay();
    await sees(stage, 'Declined');
  }),
  linkShot('paid', {}, async (stage) => {
    await opened(stage);
    await stage.pay();
    await sees(stage, 'Paid');
  }),
  linkShot('canceled', {}, async (stage) => {
    await opened(stage);
    await postAsMerchant(stage.sandbox, `/payment_intents/${stage.id}/cancel`);
    await sees(stage, 'Canceled');
  }),
  linkShot('expired', {}, async (stage) => {
    await opened(stage);
    await postAsMerchant(stage.sandbox, `/test_helpers/payment_intents/${stage.id}/expire`);
    await sees(stage, 'Expired');
  }),
  ownShot('own-wallet', async (wallet) => {
    await wallet.field('Wallet password').waitFor();
  }),
  ownShot('own-wallet-wrong-password', async (wallet) => {
    await wallet.field('Wallet password').fill('not the one it is');
    await wallet.button(/^Pay /).click();
    await wallet.sees(/That isn’t this wallet’s password/);
  }),
  ownShot('own-wallet-long', async (wallet) => {
    await rename(wallet.page, LONG_NAME);
    await wallet.page.reload();
    await wallet.page.getByRole('heading', { name: LONG_NAME }).waitFor();
    await wallet.field('Wallet password').waitFor();
  }),
  {
    name: 'unreachable',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open();
      await window.page.route('**/api/pay/v1/**', (route) => route.abort());
      await window.page.goto(`${sandbox.web_url}/pay/0000000000000000000000`);
      await window.page.getByRole('button', { name: 'Try again' }).waitFor();
      return window;
    },
  },
  {
    name: 'missing',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open();
      await window.page.goto(`${sandbox.web_url}/pay/0000000000000000000000`);
      await window.page.getByText('Nothing to pay here').waitFor();
      return window;
    },
  },
];
