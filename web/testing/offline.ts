import assert from 'node:assert/strict';
import type { BrowserContextOptions } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';
import { setLimits, WIDE_LIMITS } from '#testing/offline-sales.ts';
import { answerTo, offlineMessage, readRequest, writeAnswer } from '../data/offline-request.ts';
import type { TestWindow } from './browser.ts';
import type { OwnStage } from './stage.ts';
import { addTestTerminal, type TestTerminal, type TillWindow, tillOf } from './till.ts';

/** Grants this window's pages persistent storage, as browsers do for sites that are used often. */
export async function grantStorage({
  context,
  page,
}: Pick<TestWindow, 'context' | 'page'>): Promise<void> {
  const session = await context.newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  const { browserContextId } = targetInfo;
  await session.send('Browser.grantPermissions', {
    permissions: ['durableStorage'],
    ...(browserContextId === undefined ? {} : { browserContextId }),
  });
}

export interface OfflineWindow extends TillWindow {
  readonly terminal: TestTerminal;
  /** Types the sum and clicks Charge. @returns the request that the till shows. */
  request(sum: string): Promise<string>;
  /** Types the answer, and Enter. */
  answer(text: string): Promise<void>;
  cut(): Promise<void>;
}

/** Opens a till that may sell offline, with the app stored and its shift begun. */
export async function openOfflineTill(
  { sandbox, browser, db }: OwnStage,
  {
    limits = WIDE_LIMITS,
    persists = true,
    options,
    prepare = async () => {},
  }: {
    readonly limits?: object;
    readonly persists?: boolean;
    readonly options?: BrowserContextOptions;
    readonly prepare?: (window: TestWindow) => Promise<void>;
  } = {},
): Promise<OfflineWindow> {
  const terminal = await addTestTerminal(sandbox);
  await setLimits({ store: { db, terminalId: terminal.id } }, limits);
  const window = await browser.open(options);
  const { page } = window;
  await prepare(window);
  if (persists) await grantStorage(window);
  await page.goto(`${sandbox.web_url}/terminal#key=${terminal.deviceKey}`);
  await page.getByRole('button', { name: /^Start shift/ }).click();
  const till = offlineControls(window, terminal);
  await till.amount.waitFor();
  // The app is stored on the device, and so are the terms.
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await page.waitForFunction(hasTerms);
  return till;
}

/** True if the till has stored the service's terms. */
export function hasTerms(): Promise<boolean> {
  return new Promise((resolve) => {
    const opening = indexedDB.open('tapline.terminal');
    opening.onsuccess = () => {
      const database = opening.result;
      const names = [...database.objectStoreNames];
      if (!names.includes('terms')) return resolve(false);
      const found = database.transaction('terms').objectStore('terms').get('current');
      found.onsuccess = () => {
        database.close();
        resolve(found.result !== undefined);
      };
    };
  });
}

/** Returns the controls of a till that may sell offline. */
export function offlineControls(window: TestWindow, terminal: TestTerminal): OfflineWindow {
  const { page, context } = window;
  const till = tillOf(window);
  return {
    ...till,
    terminal,
    request: async (sum) => {
      await till.amount.fill(sum);
      await till.charge.click();
      return page.getByRole('textbox', { name: 'Request' }).inputValue();
    },
    answer: async (text) => {
      await page.getByRole('textbox', { name: 'Answer' }).fill(text);
      await page.keyboard.press('Enter');
    },
    cut: async () => {
      await context.setOffline(true);
      await page.getByText('Offline', { exact: true }).waitFor();
    },
  };
}

/** Signs a request as a wallet does. @returns the text that the wallet shows. */
export async function signRequest(account: PrivateKeyAccount, text: string): Promise<string> {
  const request = readRequest(text);
  assert.ok(typeof request !== 'string', `${request}: ${text}`);
  const from = account.address;
  const signature = await account.signTypedData(offlineMessage(request, from));
  return writeAnswer(answerTo(request, { from, signature }));
}
