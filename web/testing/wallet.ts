import type { BrowserContextOptions, Locator } from 'playwright-core';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import type { TestBrowser, TestWindow } from './browser.ts';
import { postAsMerchant, type TestTerminal } from './till.ts';

export const WALLET_PASSWORD = 'correct horse battery';

/** What the owner of a wallet sees and presses. */
export interface WalletWindow extends TestWindow {
  button(name: RegExp): Locator;
  field(name: string): Locator;
  dialog(): Locator;
  /** Sees this text somewhere, once it is there. */
  sees(text: string | RegExp): Promise<void>;
  goTo(page: string): Promise<void>;
}

export function walletOf(window: TestWindow): WalletWindow {
  const { page } = window;
  return {
    ...window,
    button: (name) => page.getByRole('button', { name }),
    field: (name) => page.getByLabel(name, { exact: true }),
    dialog: () => page.getByRole('dialog'),
    sees: (text) => page.getByText(text).first().waitFor(),
    goTo: (name) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click(),
  };
}

/** A browser in which nobody has been to the wallet yet. */
export async function openWallet(
  browser: TestBrowser,
  sandbox: SandboxFile,
  options?: BrowserContextOptions,
): Promise<WalletWindow> {
  const wallet = walletOf(await browser.open(options));
  await wallet.page.goto(`${sandbox.web_url}/wallet`);
  return wallet;
}

export async function createWallet(wallet: WalletWindow): Promise<void> {
  await wallet.button(/^Create wallet/).click();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.field('Repeat wallet password').fill(WALLET_PASSWORD);
  await wallet
    .dialog()
    .getByRole('button', { name: /^Create wallet/ })
    .click();
  await wallet.page.getByLabel('Balance').waitFor();
}

export async function fundWallet(wallet: WalletWindow): Promise<void> {
  await wallet.button(/^Get test USDC/).click();
  await wallet.page.getByLabel('Balance').getByText('100.00').waitFor();
}

export async function allowPayments(wallet: WalletWindow): Promise<void> {
  await wallet.button(/^Allow payments/).click();
  await wallet
    .dialog()
    .getByRole('button', { name: /^Allow payments/ })
    .click();
  await wallet.sees('Ready to pay');
}

/** @returns the credential that a till reads. */
export async function addPass(wallet: WalletWindow, name: string): Promise<string> {
  await wallet.goTo('Passes');
  await wallet.button(/^Add pass/).click();
  await wallet.field('Pass name').fill(name);
  await wallet
    .dialog()
    .getByRole('button', { name: /^Add pass/ })
    .click();
  const code = await wallet.field('Pass code').inputValue();
  await wallet.button(/^Done/).click();
  return code;
}

/** A wallet with money, a permission and a pass. */
export async function readyWallet(
  browser: TestBrowser,
  sandbox: SandboxFile,
  options?: BrowserContextOptions,
): Promise<{ readonly wallet: WalletWindow; readonly pass: string }> {
  const wallet = await openWallet(browser, sandbox, options);
  await createWallet(wallet);
  await fundWallet(wallet);
  await allowPayments(wallet);
  return { wallet, pass: await addPass(wallet, 'Keyring') };
}

/** Makes each first payment at a shop ask its owner. */
export async function askFirst(wallet: WalletWindow): Promise<void> {
  await wallet.goTo('Limits');
  const choice = wallet.page.getByRole('switch', { name: /^Ask me before/ });
  await choice.click();
  await wallet.page.getByRole('switch', { name: /^Ask me before/, checked: true }).waitFor();
}

/** A sale at a till, and the customer who presents this pass. @returns the intent after it. */
export async function tapPass(
  sandbox: SandboxFile,
  sale: {
    readonly terminal: TestTerminal;
    readonly amount: number;
    /** What is on a tag; or whatever else is presented. */
    readonly pass?: string;
    readonly credential?: { readonly type: string; readonly value: string };
  },
): Promise<Record<string, unknown>> {
  const { terminal, pass, amount } = sale;
  const credential = sale.credential ?? { type: 'nfc_id', value: pass };
  const intent = await postAsMerchant(sandbox, '/payment_intents', {
    amount,
    terminal: terminal.id,
  });
  return postAsMerchant(sandbox, `/test_helpers/terminals/${terminal.id}/tap`, {
    payment_intent: intent.id,
    credential,
  });
}
