import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLimits } from '#testkit/apis/offline-sales.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { type OfflineRequest, offlineNonce, writeRequest } from '../data/offline-request.ts';
import { verifyAnswer } from '../data/offline-signature.ts';
import { addVirtualPasskeys, DESKTOP, NARROW, PHONE } from '../testing/browser.ts';
import { addFilmingCamera } from '../testing/filming-camera.ts';
import { ownStage } from '../testing/stage.ts';
import { addTestTerminal, type TestTerminal } from '../testing/till.ts';
import {
  createWallet,
  fundWallet,
  openWallet,
  readyWallet,
  WALLET_PASSWORD,
  type WalletWindow,
  walletOf,
} from '../testing/wallet.ts';

const stage = ownStage();

/** The browser's message for requests without a network. */
const OFFLINE = /ERR_INTERNET_DISCONNECTED/;

interface Terms {
  readonly chain_id: number;
  readonly usdc: `0x${string}`;
  readonly usdc_name: string;
  readonly usdc_version: string;
  readonly settlement: `0x${string}`;
  readonly merchant_number: number;
  readonly rates: {
    readonly acquirer: number;
    readonly protocol: number;
    readonly cashback: number;
  };
}

async function asDevice<T>(
  { deviceKey }: TestTerminal,
  [method, path]: readonly [string, string],
  body?: object,
): Promise<T> {
  const response = await fetch(`${stage().sandbox.base_url}/device/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${deviceKey}`, 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.ok(response.status < 300, text);
  return JSON.parse(text) as T;
}

/** Builds the payment request that the till would show for a sale. */
async function requestOf(
  terminal: TestTerminal,
  amount: bigint,
  change: Partial<OfflineRequest> = {},
): Promise<OfflineRequest> {
  const read = await asDevice<{ offline_terms: Terms }>(terminal, ['GET', '/terminal']);
  const { rates, ...terms } = read.offline_terms;
  const part = (rate: number) => (amount * BigInt(rate)) / 10_000n;
  return {
    chainId: terms.chain_id,
    usdc: terms.usdc,
    usdcName: terms.usdc_name,
    usdcVersion: terms.usdc_version,
    settlement: terms.settlement,
    merchantNumber: terms.merchant_number,
    merchantName: 'Blue Door Café',
    amount,
    value: amount + part(rates.acquirer) + part(rates.protocol) - part(rates.cashback),
    validBefore: Math.floor(Date.now() / 1_000) + 3_600,
    salt: `0x${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')}`,
    ...change,
  };
}

/**
 * Forwards the sale that the till has stored.
 * @returns the sale once the chain has decided.
 */
async function settle(terminal: TestTerminal, request: OfflineRequest, text: string) {
  const answer = await verifyAnswer(request, text);
  assert.ok(typeof answer !== 'string', String(answer));
  const record = {
    authorization: {
      from: answer.from,
      value: Number(request.value),
      valid_after: answer.validAfter,
      valid_before: answer.validBefore,
      nonce: offlineNonce(request),
      signature: answer.signature,
    },
    amount: Number(request.amount),
    salt: request.salt,
    accepted_at: new Date().toISOString(),
  };
  return eventually('the chain decides', async () => {
    const path = ['POST', '/offline_payments'] as const;
    const body = { payments: [record] };
    const { data } = await asDevice<{ data: { status: string }[] }>(terminal, path, body);
    return data[0]?.status !== 'processing' && data[0];
  });
}

async function offlineTerminal(): Promise<TestTerminal> {
  const { sandbox, db } = stage();
  const terminal = await addTestTerminal(sandbox);
  await setLimits({ store: { db, terminalId: terminal.id } });
  return terminal;
}

/** Waits until the app is stored on the device, then cuts the network. */
async function cut({ page, context }: WalletWindow): Promise<void> {
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await context.setOffline(true);
  const reached = await page.evaluate(() =>
    fetch('api/payer/v1/networks').then(
      () => true,
      () => false,
    ),
  );
  assert.equal(reached, false, 'the network is cut');
}

async function checkFits({ page }: WalletWindow): Promise<void> {
  const wide = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(wide, 0, 'scrolls sideways');
}

test('a locked offline wallet signs what a till asks for, and it is paid', async () => {
  const { sandbox, browser } = stage();
  const terminal = await offlineTerminal();
  const request = await requestOf(terminal, 2_500_000n);
  const wallet = await openWallet(browser, sandbox, PHONE);
  const { page } = wallet;
  await createWallet(wallet);
  await fundWallet(wallet);
  await addFilmingCamera(page, writeRequest(request));
  await cut(wallet);
  // A reload locks the wallet, and loads the app that the device has stored.
  await page.reload();
  await wallet.button(/^Pay/).click();
  await wallet.inDialog(/^Pay offline/).click();
  await page.getByRole('heading', { name: 'Pay offline', level: 1 }).waitFor();
  // The camera films the till's code; the decoder was stored with the app.
  await wallet.button(/^Scan the code/).click();
  await page.locator(`input[data-name="Request"][value="${writeRequest(request)}"]`).waitFor();
  await wallet.sees('Blue Door Café');
  await wallet.sees(/2\.51/);
  await wallet.checkAccessibility();
  await page.setViewportSize(NARROW.viewport);
  await checkFits(wallet);
  await wallet.button(/^Sign/).click();
  await wallet.sees('That isn’t this wallet’s password.');
  await wallet.field('Wallet password').fill(WALLET_PASSWORD);
  await wallet.button(/^Sign 2\.51/).click();
  const answer = page.getByRole('textbox', { name: 'Answer' });
  await answer.waitFor();
  assert.equal(await answer.getAttribute('readonly'), '');
  await page.getByRole('img', { name: 'The answer for the till' }).waitFor();
  await wallet.checkAccessibility();
  await checkFits(wallet);
  await page.setViewportSize(PHONE.viewport);
  const text = await answer.inputValue();
  assert.ok(Buffer.byteLength(text) <= 300);
  assert.equal((await settle(terminal, request, text)).status, 'succeeded');

  // The signed amount reduces the balance that the wallet knows.
  await wallet.button(/^Next payment/).click();
  await wallet.field('Request').fill(writeRequest(await requestOf(terminal, 97_400_000n)));
  await wallet.sees(/more than your wallet last held \(97\.49/);
  await wallet.context.setOffline(false);
  await page.getByRole('link', { name: 'Back to the wallet' }).click();
  await page.getByLabel('Balance').getByText('97.49').waitFor();
  wallet.checkClean(OFFLINE);
  await wallet.close();
});

test('offline, the home page offers neither a code nor a payment online', async () => {
  const { sandbox, browser } = stage();
  const { wallet } = await readyWallet(browser, sandbox, PHONE);
  await wallet.goTo('Home');
  const ready = wallet.page.getByText('Ready to pay');
  await ready.waitFor();
  await wallet.button(/^Pay/).click();
  const code = wallet.inDialog(/^Show code/);
  await code.waitFor();
  await cut(wallet);
  await wallet.sees('Offline: use “Pay offline”');
  await code.waitFor({ state: 'detached' });
  assert.equal(await ready.count(), 0);
  await wallet.checkAccessibility();
  await wallet.context.setOffline(false);
  await ready.waitFor();
  await code.waitFor();
  wallet.checkClean(OFFLINE);
  await wallet.close();
});

test('a request for another network, contract or time is refused with a reason', async () => {
  const { sandbox, browser } = stage();
  const terminal = await offlineTerminal();
  const wallet = await openWallet(browser, sandbox, DESKTOP);
  await createWallet(wallet);
  await wallet.button(/^Pay/).click();
  await wallet.inDialog(/^Pay offline/).click();
  const other = `0x${'99'.repeat(20)}` as const;
  const now = Math.floor(Date.now() / 1_000);
  const refused: readonly (readonly [Partial<OfflineRequest>, string])[] = [
    [{ chainId: 1 }, 'a different network'],
    [{ settlement: other }, 'Don’t pay here.'],
    [{ usdc: other }, 'Don’t pay here.'],
    [{ validBefore: now - 5 }, 'has expired'],
    [{ validBefore: now + 100 * 3_600 }, 'more than 72 hours'],
    [{ value: 2_900_000n }, 'higher fees'],
    [{ amount: 0n }, 'cannot be paid'],
  ];
  for (const [change, words] of refused) {
    const request = await requestOf(terminal, 2_500_000n, change);
    await wallet.field('Request').fill(writeRequest(request));
    await wallet.sees(words);
    await wallet.button(/^Sign/).click();
    assert.equal(await wallet.page.getByRole('textbox', { name: 'Answer' }).count(), 0);
  }
  const whole = writeRequest(await requestOf(terminal, 2_500_000n));
  await wallet.field('Request').fill(whole.slice(0, -4));
  await wallet.button(/^Sign/).click();
  await wallet.sees('incomplete or has a typo');
  await wallet.field('Request').fill('pass_1.12345678');
  await wallet.button(/^Sign/).click();
  await wallet.sees('not a till’s request');
  await wallet.checkAccessibility();
  // An empty wallet shows a warning, and the owner decides.
  const request = await requestOf(terminal, 2_500_000n);
  await wallet.field('Request').fill(writeRequest(request));
  await wallet.sees('more than your wallet last held (0.00 USDC)');
  await wallet.button(/^Sign/).click();
  const text = await wallet.page.getByRole('textbox', { name: 'Answer' }).inputValue();
  assert.equal((await settle(terminal, request, text)).status, 'bounced');
  wallet.checkClean();
  await wallet.close();
});

test('a passkey opens the wallet without a connection', async () => {
  const { sandbox, browser } = stage();
  const terminal = await offlineTerminal();
  const request = await requestOf(terminal, 1_200_000n);
  // Passkeys need a host name; a numeric IP address does not work.
  const url = sandbox.web_url.replace('127.0.0.1', 'localhost');
  const wallet = walletOf(await browser.open(PHONE));
  await addVirtualPasskeys(wallet);
  await wallet.page.goto(`${url}/wallet`);
  await wallet.button(/^Create wallet/).click();
  await wallet.button(/^Use a passkey/).click();
  await wallet.page.getByLabel('Balance').waitFor();
  await fundWallet(wallet);
  await cut(wallet);
  await wallet.page.goto(`${url}/wallet/pay-offline`);
  // The request is also accepted in lowercase, as people type it.
  await wallet.field('Request').fill(writeRequest(request).toLowerCase());
  await wallet.button(/^Sign/).click();
  const text = await wallet.page.getByRole('textbox', { name: 'Answer' }).inputValue();
  assert.equal((await settle(terminal, request, text)).status, 'succeeded');
  wallet.checkClean(OFFLINE);
  await wallet.close();
});
