import assert from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { setLimits, WIDE_LIMITS } from '#testkit/apis/offline-sales.ts';
import {
  answerTo,
  offlineMessage,
  offlineNonce,
  readRequest,
  writeAnswer,
} from '../data/offline-request.ts';
import type { HeldSale } from '../terminal/offline/held-sales.ts';
import { becomesTrue } from './becomes-true.ts';
import type { TestDevice, TestWindow } from './browser.ts';
import type { OwnStage } from './stage.ts';
import { addTestTerminal, type TestTerminal, type TillWindow, tillOf } from './till.ts';

/**
 * Grants this window's pages persistent storage, as browsers do for sites that are used often. The
 * permission ends when the page closes.
 */
export async function grantStorage({
  context,
  page,
  ...window
}: Pick<TestWindow, 'context' | 'page'> | TestDevice): Promise<void> {
  const session = await context.newCDPSession(page);
  const { targetInfo } = await session.send('Target.getTargetInfo');
  const { browserContextId } = targetInfo;
  // A device has only the browser's default context, which has no id.
  const isNamed = browserContextId !== undefined && !('kill' in window);
  await session.send('Browser.grantPermissions', {
    permissions: ['durableStorage'],
    ...(isNamed ? { browserContextId } : {}),
  });
}

export interface OfflineWindow extends TillWindow {
  readonly terminal: TestTerminal;
  /** Types the sum and clicks Charge. @returns the request that the till shows. */
  request(sum: string): Promise<string>;
  /** Types the answer and presses Enter. */
  answer(text: string): Promise<void>;
  /** Sells to a wallet, while the till is offline. @returns the wallet's answer. */
  sellTo(wallet: PrivateKeyAccount, sum: string): Promise<string>;
  cut(): Promise<void>;
  /** Connects the till again, and waits until its only sale is forwarded. */
  forward(): Promise<void>;
}

/** Opens a till that may sell offline, after the app is stored and its shift has started. */
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
    readonly prepare?: (window: TestWindow) => Promise<unknown>;
  } = {},
): Promise<OfflineWindow> {
  const terminal = await addTestTerminal(sandbox);
  await setLimits({ store: { db, terminalId: terminal.id } }, limits);
  const window = await browser.open(options);
  await prepare(window);
  if (persists) await grantStorage(window);
  return startOfflineTill(window, { sandbox, terminal });
}

/**
 * Pairs a till and starts its shift. Afterwards the till has stored the app and the service's
 * terms.
 */
export async function startOfflineTill(
  window: TestWindow,
  { sandbox, terminal }: { readonly sandbox: SandboxFile; readonly terminal: TestTerminal },
): Promise<OfflineWindow> {
  const { page } = window;
  await page.goto(`${sandbox.web_url}/terminal#key=${terminal.deviceKey}`);
  await page.getByRole('button', { name: /^Start shift/ }).click();
  const till = offlineControls(window, terminal);
  await page.getByRole('link', { name: 'Keypad', exact: true }).waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await becomesTrue(page, hasTerms);
  return till;
}

/** True if the till has stored the service's terms. */
export function hasTerms(): Promise<boolean> {
  return new Promise((resolve) => {
    const opening = indexedDB.open('tapline.terminal');
    opening.onsuccess = () => {
      const database = opening.result;
      const names = [...database.objectStoreNames];
      const terms = names.includes('terms') ? database.transaction('terms') : null;
      // Ends after the transaction. An open database would keep the till from upgrading it.
      database.close();
      if (terms === null) return resolve(false);
      const request = terms.objectStore('terms').get('current');
      request.onsuccess = () => resolve(request.result !== undefined);
    };
  });
}

/** True if the service worker of the gateway's later build has replaced the till's first one. */
export async function hasLaterBuild(): Promise<boolean> {
  const later = (await caches.keys()).find((name) => name.startsWith('terminal later-'));
  if (later === undefined) return false;
  const files = await (await caches.open(later)).keys();
  const { installing, waiting, active } = await navigator.serviceWorker.ready;
  const isReplaced = installing === null && waiting === null && active?.state === 'activated';
  return isReplaced && files.length > 0;
}

/** Returns the controls of a till that may sell offline. */
export function offlineControls(window: TestWindow, terminal: TestTerminal): OfflineWindow {
  const { page, context } = window;
  const till: OfflineWindow = {
    ...tillOf(window),
    terminal,
    request: async (sum) => {
      await page.getByRole('link', { name: 'Keypad', exact: true }).click();
      await till.amount.fill(sum);
      await till.charge.click();
      return page.getByRole('textbox', { name: 'Request' }).inputValue();
    },
    answer: async (text) => {
      await page.getByRole('textbox', { name: 'Answer' }).fill(text);
      await page.keyboard.press('Enter');
    },
    sellTo: async (wallet, sum) => {
      const answer = await signRequest(wallet, await till.request(sum));
      await till.answer(answer);
      await till.result('Accepted offline').waitFor();
      return answer;
    },
    cut: async () => {
      await context.setOffline(true);
      await page.getByText('Offline', { exact: true }).waitFor();
    },
    forward: async () => {
      await context.setOffline(false);
      await page.getByText('1 sale waits', { exact: true }).waitFor({ state: 'hidden' });
    },
  };
  return till;
}

/** Returns the till to its keypad, from any screen. */
export async function toKeypad(till: OfflineWindow): Promise<void> {
  const next = async () => {
    if (await till.newPayment.isVisible()) await till.newPayment.click({ timeout: 2_000 });
    else await till.cancel.click({ timeout: 2_000 });
  };
  while (true) {
    await till.amount.or(till.cancel).or(till.newPayment).first().waitFor();
    if (await till.amount.isVisible()) return;
    // By now the till may show another screen.
    await next().catch((error: Error) => {
      if (!/Timeout/.test(error.message)) throw error;
    });
  }
}

/** Signs a request as a wallet does. @returns the text that the wallet shows. */
export async function signRequest(account: PrivateKeyAccount, text: string): Promise<string> {
  const request = readRequest(text);
  assert.ok(typeof request !== 'string', `${request}: ${text}`);
  const from = account.address;
  const signature = await account.signTypedData(offlineMessage(request, from));
  return writeAnswer(answerTo(request, { from, signature }), request);
}

/** Stores sales as if the till had accepted them, encrypted with the till's own key. */
export function putSales(page: Page, sales: readonly HeldSale[]): Promise<void> {
  return page.evaluate(async (all) => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open('tapline.terminal'));
    const key = await done(database.transaction('keys').objectStore('keys').get('seal'));
    const sealed = await Promise.all(
      all.map(async (sale) => {
        const iv = crypto.getRandomValues(new Uint8Array(12));
        const bytes = new TextEncoder().encode(JSON.stringify(sale));
        const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, key, bytes);
        return { nonce: sale.nonce, iv, data };
      }),
    );
    const store = database.transaction('sales', 'readwrite').objectStore('sales');
    await Promise.all(sealed.map((one) => done(store.add(one))));
    database.close();
  }, sales);
}

/** Reads the sales that the till has stored, with the till's own key. */
export function heldSales(page: Page): Promise<readonly HeldSale[]> {
  return page.evaluate(async () => {
    const done = <T>(request: IDBRequest<T>) =>
      new Promise<T>((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const database = await done(indexedDB.open('tapline.terminal'));
    const key = await done(database.transaction('keys').objectStore('keys').get('seal'));
    const all = await done(database.transaction('sales').objectStore('sales').getAll());
    database.close();
    return Promise.all(
      all.map(async ({ iv, data }) => {
        const bytes = await crypto.subtle.decrypt({ name: 'AES-GCM', iv }, key, data);
        return JSON.parse(new TextDecoder().decode(bytes)) as HeldSale;
      }),
    );
  });
}

/** Returns the nonce of the sale that a till requests. */
export function nonceIn(text: string): string {
  const request = readRequest(text);
  assert.ok(typeof request !== 'string', `${request}: ${text}`);
  return offlineNonce(request);
}
