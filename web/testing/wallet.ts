import type { BrowserContextOptions, Locator } from 'playwright-core';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import type { TestBrowser, TestWindow } from './browser.ts';
import { postAsMerchant, type TestTerminal } from './till.ts';

export const WALLET_PASSWORD = 'correct horse battery';

export interface WalletWindow extends TestWindow {
  button(name: RegExp): Locator;
  field(name: string): Locator;
  dialog(): Locator;
  inDialog(name: RegExp): Locator;
  /** Waits until this text is visible somewhere. */
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
    inDialog: (name) => page.getByRole('dialog').getByRole('button', { name }),
    sees: (text) => page.getByText(text).first().waitFor(),
    goTo: (name) => page.getByRole('navigation').getByRole('link', { name, exact: true }).click(),
  };
}

const DONE = '.moment [data-name=Done]';

/** Closes each result that covers what a test clicks next. */
async function closeResults({ page }: TestWindow): Promise<void> {
  const done = page.locator(DONE);
  await page.addLocatorHandler(done, () => done.click());
}

/** For tests that look at the results of payments: leaves them open. */
export async function keepResults({ page }: TestWindow): Promise<void> {
  await page.removeLocatorHandler(page.locator(DONE));
}

/** Opens the wallet app in a browser that has no wallet yet. */
export async function openWallet(
  browser: TestBrowser,
  sandbox: SandboxFile,
  options?: BrowserContextOptions,
): Promise<WalletWindow> {
  const wallet = walletOf(await browser.open(options));
  await closeResults(wallet);
  await wallet.page.goto(`${sandbox.web_url}/wallet`);
  return wallet;
}

export async function createWallet(wallet: WalletWindow): Promise<void> {
  await wallet.button(/^Create wallet/).click();
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.field('Repeat wallet password').fill(WALLET_PASSWORD);
  await wallet.inDialog(/^Create wallet/).click();
  await wallet.page.getByLabel('Balance').waitFor();
}

/** Imports a private key. The wallet counts as backed up. */
export async function importWallet(wallet: WalletWindow, key: string): Promise<void> {
  await wallet.button(/^Import wallet/).click();
  await wallet.field('Private key').fill(key);
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.field('Repeat wallet password').fill(WALLET_PASSWORD);
  await wallet.inDialog(/^Import wallet/).click();
  await wallet.page.getByLabel('Balance').waitFor();
}

export async function fundWallet(wallet: WalletWindow): Promise<void> {
  await wallet.button(/^Get test USDC/).click();
  await wallet.page.getByLabel('Balance').getByText('100.00').waitFor();
}

export async function allowPayments(wallet: WalletWindow): Promise<void> {
  await wallet.button(/^Allow payments/).click();
  await wallet.inDialog(/^Allow payments/).click();
  await wallet.sees('Ready to pay');
}

/** Opens the way to pay with a code, from the home page. */
export async function showCode(wallet: WalletWindow): Promise<void> {
  await wallet.button(/^Pay/).click();
  await wallet.inDialog(/^Show code/).click();
}

/** Adds a pass. @returns the credential that a till reads. */
export async function addPass(wallet: WalletWindow, name: string): Promise<string> {
  await wallet.goTo('Passes');
  await wallet.button(/^Add pass/).click();
  await wallet.field('Pass name').fill(name);
  await wallet.inDialog(/^Add pass/).click();
  const code = await wallet.field('Pass code').inputValue();
  await wallet.button(/^Done/).click();
  return code;
}

/** Opens a wallet with USDC, an approval and a pass. */
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

/** Sets the wallet to ask its owner before each first payment at a merchant. */
export async function askFirst(wallet: WalletWindow): Promise<void> {
  await wallet.goTo('Limits');
  const choice = wallet.page.getByRole('switch', { name: /^Ask me before/ });
  await choice.click();
  await wallet.page.getByRole('switch', { name: /^Ask me before/, checked: true }).waitFor();
}

/** Makes a sale at a till and taps this pass. @returns the intent afterwards. */
export async function tapPass(
  sandbox: SandboxFile,
  sale: {
    readonly terminal: TestTerminal;
    readonly amount: number;
    /** The text of a tag, or another credential to present. */
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
