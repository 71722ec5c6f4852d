import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { PHONE } from '../testing/browser.ts';
import { changeAnswers } from '../testing/network-faults.ts';
import { letAsk, PUSH_KEY } from '../testing/notifications.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';
import { askFirst, readyWallet, tapPass, type WalletWindow } from '../testing/wallet.ts';

const stage = sharedStage();

const ENDPOINT = 'https://push.example.com/send/1';

/** Simulates an operator with Web Push, and the browser vendor's push service. */
async function setUp(page: Page): Promise<void> {
  const push = '**/api/payer/v1/push';
  await changeAnswers(page, push, (answer) => ({ ...answer, public_key: PUSH_KEY }));
  await letAsk(page);
  await page.addInitScript((endpoint) => {
    PushManager.prototype.getSubscription = async () => null;
    PushManager.prototype.subscribe = async (options) => {
      Object.assign(window, { subscribedWith: options });
      return { endpoint } as PushSubscription;
    };
  }, ENDPOINT);
}

test('the settings let this device ring while the wallet is closed', async () => {
  const { sandbox, browser } = stage();
  const { wallet } = await readyWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await setUp(page);
  await page.goto(`${sandbox.web_url}/wallet`);
  await page.getByLabel('Balance').waitFor();
  await wallet.goTo('Settings');
  await wallet.sees('This device is not notified while the wallet is closed.');
  await wallet.checkAccessibility();
  const sent = page.waitForRequest((request) => request.method() === 'PUT');
  await wallet.button(/^Notify this device/).click();
  assert.deepEqual((await sent).postDataJSON(), { endpoint: ENDPOINT });
  const key = await page.evaluate(() => {
    const { subscribedWith } = window as unknown as { subscribedWith: PushSubscriptionOptionsInit };
    const bytes = new Uint8Array(subscribedWith.applicationServerKey as ArrayBuffer);
    return [subscribedWith.userVisibleOnly, bytes.length, bytes[0]];
  });
  assert.deepEqual(key, [true, 65, 4]);
  // The sandbox itself has no Web Push.
  await wallet.sees(/has not set up Web Push/);
  await page.unrouteAll({ behavior: 'wait' });
  await wallet.close();
});

test('once there is a pass, the wallet asks once whether it may ring', async () => {
  const { sandbox, browser } = stage();
  const { wallet } = await readyWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await letAsk(page);
  const question = page.getByText('Notify this device?');
  const listed = () => page.getByRole('button', { name: 'Revoke Keyring' }).waitFor();
  await page.reload();
  await question.waitFor();
  await wallet.checkAccessibility();
  await wallet.button(/^Not now/).click();
  await question.waitFor({ state: 'detached' });
  await page.reload();
  await listed();
  assert.equal(await question.count(), 0, 'asked once');
  await wallet.goTo('Settings');
  await wallet.sees('This device is not notified while you use another window.');
  await wallet.button(/^Notify this device/).click();
  await wallet.sees(/^This device is notified while the wallet is open/);
  wallet.checkClean();
  await wallet.close();

  const { wallet: second } = await readyWallet(browser, sandbox);
  await letAsk(second.page);
  await second.page.reload();
  await second.button(/^Notify this device/).click();
  await second.page.getByText('Notify this device?').waitFor({ state: 'detached' });
  await second.close();
});

test('a browser that blocks notifications is not asked, and the settings say so', async () => {
  const { sandbox, browser } = stage();
  const { wallet } = await readyWallet(browser, sandbox);
  const { page } = wallet;
  // A headless browser refuses without a prompt.
  await page.reload();
  await page.getByRole('button', { name: 'Revoke Keyring' }).waitFor();
  assert.equal(await page.getByText('Notify this device?').count(), 0);
  await wallet.goTo('Settings');
  await wallet.button(/^Notify this device/).click();
  await wallet.sees(/^This browser blocks notifications from the wallet/);
  await wallet.close();
});

/** Records the notifications that the worker requests, because a headless browser shows none. */
async function watchNotifications({ page, context }: WalletWindow) {
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  const worker = context.serviceWorkers()[0];
  assert.ok(worker !== undefined);
  await worker.evaluate(() => {
    const scope = globalThis as unknown as { registration: object; shown: unknown };
    Object.assign(scope.registration, {
      showNotification: async (title: string, { body, tag }: NotificationOptions) => {
        scope.shown = { title, body, tag };
      },
      getNotifications: async () => [{ close: () => Object.assign(scope, { shown: 'closed' }) }],
    });
  });
  const shown = () => worker.evaluate(() => (globalThis as { shown?: unknown }).shown ?? null);
  return async (expected: unknown) => {
    for (let i = 0; i < 100 && !isDeepStrictEqual(await shown(), expected); i++) {
      await page.waitForTimeout(100);
    }
    assert.deepEqual(await shown(), expected);
  };
}

const RING = {
  title: 'A payment needs your approval',
  body: 'Open your wallet within a minute.',
  tag: 'ring',
};

test('a wallet behind another window rings until the request is answered', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { wallet, pass } = await readyWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await askFirst(wallet);
  await letAsk(page, 'granted');
  await page.addInitScript(() => {
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
  });
  await page.reload();
  const shows = await watchNotifications(wallet);
  await tapPass(sandbox, { terminal, pass, amount: 2_500_000 });
  await wallet.button(/^Reject/).waitFor();
  await shows(RING);
  await wallet.button(/^Reject/).click();
  await wallet.sees('Nothing was paid.');
  await shows('closed');
  await wallet.close();
});

const PUSH = {
  title: 'A till is asking your wallet to pay',
  body:
    'Approve it within a minute. If a fixed-code pass was tapped and that wasn’t you, ' +
    'revoke the pass.',
  tag: 'ring',
};

test('a push notification reveals no amount and no merchant', async () => {
  const { sandbox, browser } = stage();
  const { wallet } = await readyWallet(browser, sandbox);
  const { page, context } = wallet;
  const { origin } = new URL(sandbox.web_url);
  const shows = await watchNotifications(wallet);
  const session = await context.newCDPSession(page);
  const registered = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const own = registrations.find(({ scopeURL }) => scopeURL.startsWith(origin));
      if (own !== undefined) resolve(own.registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  const registrationId = await registered;
  await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: '' });
  await shows(PUSH);
  await wallet.close();
});
