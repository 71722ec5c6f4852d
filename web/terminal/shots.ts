import type { Locator } from 'playwright-core';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { WIDE_LIMITS } from '#testkit/apis/offline-sales.ts';
import { becomesTrue } from '../testing/becomes-true.ts';
import { changeAnswers } from '../testing/network-faults.ts';
import { grantStorage, hasTerms, type OfflineWindow, offlineControls } from '../testing/offline.ts';
import { LONG_NAME, RIGHT_TO_LEFT_NAME, type Shot } from '../testing/shots.ts';
import {
  addTestTerminal,
  type Counter,
  intentsOf,
  paymentsOf,
  postAsMerchant,
  tillOf,
} from '../testing/till.ts';
import { tillShotsAt } from '../testing/till-shots.ts';

const tillShot = tillShotsAt('Counter 2');

/** The request for the terminal that this device is. */
const TERMINAL = '**/api/device/v1/terminal';

/** Changes the merchant's name in the service's responses. */
async function rename({ till }: Counter, name: string): Promise<void> {
  await changeAnswers(till.page, TERMINAL, (terminal) => ({ ...terminal, merchant_name: name }));
  await till.page.reload();
  await till.page.getByText(name).waitFor();
}

/** Makes a sale on the merchant's server, for which the till then waits. */
async function askFor({ sandbox, terminal, till }: Counter, sale: object): Promise<void> {
  await postAsMerchant(sandbox, '/payment_intents', { ...sale, terminal: terminal.id });
  await till.testPass.waitFor();
}

async function tap({ till }: Counter, pass: string): Promise<void> {
  await till.ask('2.50');
  await till.testPass.selectOption(pass);
}

async function sell({ till }: Counter, amount: string): Promise<void> {
  await till.sell(amount);
  await till.newPayment.click();
}

/** Opens the page of a payment that was just made. */
async function lastPayment(counter: Counter): Promise<void> {
  await sell(counter, '12.50');
  await counter.page.getByRole('button', { name: 'Last payment' }).click();
  await counter.page.getByRole('button', { name: /^Refund/ }).waitFor();
}

async function openRefund(counter: Counter): Promise<Locator> {
  await lastPayment(counter);
  await counter.page.getByRole('button', { name: /^Refund/ }).click();
  return counter.page.getByRole('dialog');
}

async function openSettings({ page }: Counter): Promise<void> {
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('heading', { name: 'This device' }).waitFor();
}

async function lock(counter: Counter): Promise<void> {
  const { page } = counter;
  await openSettings(counter);
  await page.getByRole('textbox', { name: 'PIN' }).fill('2468');
  await page.getByRole('button', { name: 'Set PIN' }).click();
  await page.getByRole('button', { name: 'Lock' }).click();
  await page.getByRole('heading', { name: 'Locked' }).waitFor();
}

const PAIRING: readonly Shot[] = [
  {
    name: 'pair',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open();
      await window.page.goto(`${sandbox.web_url}/terminal`);
      await window.page.getByRole('button', { name: /^Pair/ }).waitFor();
      return window;
    },
  },
  {
    name: 'pair-refused',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open();
      await window.page.goto(`${sandbox.web_url}/terminal`);
      await window.page.getByRole('textbox', { name: 'Pairing code' }).fill('AAAA-AAAA');
      await window.page.getByRole('button', { name: /^Pair/ }).click();
      await window.page.locator('[aria-invalid="true"]').waitFor();
      return window;
    },
  },
  {
    name: 'start-of-shift',
    show: async ({ browser, sandbox }) => {
      const { deviceKey } = await addTestTerminal(sandbox, 'Counter 2');
      const window = await browser.open();
      await window.page.goto(`${sandbox.web_url}/terminal#key=${deviceKey}`);
      await window.page.getByRole('button', { name: /^Start shift/ }).waitFor();
      await window.page.getByText('Counter 2').waitFor();
      return window;
    },
  },
];

const SELLING: readonly Shot[] = [
  tillShot('keypad', async () => {}),
  tillShot('keypad-12-digits', ({ till }) => till.amount.fill('999999.999999')),
  tillShot('keypad-wrong', ({ till }) => till.amount.fill('12..5')),
  tillShot('split', async ({ till }) => {
    await till.amount.fill('43.21');
    await till.page.getByRole('button', { name: 'Split the bill' }).click();
    await till.page.getByRole('dialog').waitFor();
  }),
  tillShot('split-part', async ({ till }) => {
    await till.amount.fill('43.21');
    await till.page.getByRole('button', { name: 'Split the bill' }).click();
    await till.page.getByRole('button', { name: /^Equal parts/ }).click();
  }),
  tillShot('waiting', ({ till }) => till.ask('2.50')),
  tillShot('card-pin', async ({ till }) => {
    await till.ask('2.50');
    await till.page.getByRole('button', { name: /^Hold the PIN card/ }).press('Enter');
    await till.page.getByLabel('Card PIN').waitFor();
  }),
  tillShot('card-hold', async ({ till }) => {
    await till.page.addInitScript(() => {
      Object.defineProperty(navigator, 'userAgent', { value: 'Mozilla/5.0 (iPhone) Safari' });
      navigator.credentials.get = () => new Promise(() => {});
    });
    await till.page.reload();
    await till.ask('2.50');
    await till.page.getByRole('button', { name: /^Hold a card here/ }).click();
  }),
  tillShot('tip', async ({ till, sandbox, terminal }) => {
    const tipping = { percentages: [10, 15, 20] };
    const sale = { amount: 12_340_000, terminal: terminal.id, tipping };
    await postAsMerchant(sandbox, '/payment_intents', sale);
    await till.page.getByRole('radio', { name: /^15 %/ }).check();
  }),
  tillShot('waiting-long', async (stage) => {
    await rename(stage, LONG_NAME);
    await askFor(stage, { amount: 999_999_999_999, description: `Table 7: ${LONG_NAME}` });
  }),
  tillShot('waiting-right-to-left', async (stage) => {
    await rename(stage, RIGHT_TO_LEFT_NAME);
    await askFor(stage, { amount: 12_500_000, description: 'طاولة ٧: قهوتان وكعكة' });
  }),
];

/**
 * Takes a screenshot with a camera that delivers no picture, or without a camera. This Chromium
 * cannot read codes.
 */
function cameraShot(name: string, allowed: boolean): Shot {
  return tillShot(name, async ({ till }) => {
    await till.page.addInitScript((isAllowed) => {
      Object.assign(window, {
        BarcodeDetector: class {
          detect = async () => [];
        },
      });
      navigator.mediaDevices.getUserMedia = async () => {
        if (!isAllowed) throw new DOMException('no', 'NotAllowedError');
        return document.createElement('canvas').captureStream();
      };
    }, allowed);
    await till.page.reload();
    await till.ask('2.50');
    await till.page.getByRole('button', { name: 'Scan a code' }).click();
    await till.page.getByRole('dialog').waitFor();
  });
}

const CAMERA: readonly Shot[] = [cameraShot('scan', true), cameraShot('scan-refused', false)];

const RESULTS: readonly Shot[] = [
  tillShot('opening', async ({ till }) => {
    await till.page.route(/payment_intents$/, () => {});
    await till.amount.fill('2.50');
    await till.charge.click();
    await till.page.getByText('Starting the payment').waitFor();
  }),
  tillShot('checking', async (stage) => {
    await stage.page.route('**/tap', () => {});
    await tap(stage, 'ok');
    await stage.till.result('Checking…').waitFor();
  }),
  tillShot('confirming', async (stage) => {
    await tap(stage, 'confirm');
    await stage.till.result('Waiting for the customer to confirm').waitFor();
  }),
  tillShot('declined', async (stage) => {
    await tap(stage, 'insufficient_funds');
    await stage.till.result('Declined').waitFor();
  }),
  tillShot('paid', ({ till }) => till.sell('2.50')),
  tillShot('canceled', async ({ till }) => {
    await till.ask('2.50');
    await till.cancel.click();
    await till.result('Canceled').waitFor();
  }),
  tillShot('expired', async ({ till, sandbox, terminal }) => {
    await till.ask('2.50');
    const [intent] = await intentsOf(sandbox, terminal);
    await postAsMerchant(sandbox, `/test_helpers/payment_intents/${intent?.id}/expire`);
    await till.result('Expired').waitFor();
  }),
  tillShot('not-sent', async ({ till }) => {
    await till.amount.fill('2.50');
    await till.context.setOffline(true);
    await till.charge.click();
    await till.page.getByText('Not sent').waitFor();
  }),
  tillShot('offline-while-waiting', async ({ till }) => {
    await till.ask('2.50');
    await till.context.setOffline(true);
    await till.page.getByText('Offline', { exact: true }).waitFor();
  }),
];

const PAGES: readonly Shot[] = [
  tillShot('history-empty', async ({ till }) => {
    await till.page.getByRole('link', { name: 'History' }).click();
    await till.page.getByText('No payments in this shift').waitFor();
  }),
  tillShot('history', async (stage) => {
    for (const amount of ['2.50', '1234.05', '999999.99']) await sell(stage, amount);
    await stage.page.getByRole('link', { name: 'History' }).click();
    await stage.page.getByText('1,234.05').waitFor();
  }),
  tillShot('payment', lastPayment),
  tillShot('refund', async (stage) => {
    await (await openRefund(stage)).waitFor();
  }),
  tillShot('refunded', async (stage) => {
    const dialog = await openRefund(stage);
    await dialog.getByRole('button', { name: /^Refund/ }).click();
    await stage.page.getByText('Refunded', { exact: true }).first().waitFor();
  }),
  tillShot('totals', async (stage) => {
    await stage.page.getByRole('link', { name: 'Settings' }).click();
    await stage.page.getByRole('textbox', { name: 'Cashier' }).fill('Ada Lovelace');
    await stage.page.getByRole('link', { name: 'Keypad' }).click();
    await sell(stage, '12.50');
    await stage.page.getByRole('link', { name: 'Totals' }).click();
    await stage.page.getByText('Refunds (0)').first().waitFor();
  }),
  tillShot('settings', openSettings),
  tillShot('usb-reader', async ({ till }) => {
    await till.page.getByRole('link', { name: 'Settings' }).click();
    await till.page.getByRole('button', { name: /^Connect a USB reader/ }).click();
    await till.page.getByRole('textbox', { name: 'Command' }).scrollIntoViewIfNeeded();
  }),
  tillShot('locked', lock),
  tillShot('locked-wrong', async (stage) => {
    await lock(stage);
    await stage.page.getByRole('textbox', { name: 'PIN' }).fill('1111');
    await stage.page.getByRole('button', { name: 'Unlock' }).click();
    await stage.page.locator('[aria-invalid="true"]').waitFor();
  }),
  tillShot('end-of-shift', async ({ till }) => {
    await till.page.getByRole('link', { name: 'Totals' }).click();
    await till.page.getByRole('button', { name: 'End shift' }).click();
    await till.page.getByRole('dialog').waitFor();
  }),
  tillShot('settings-long', async (stage) => {
    await rename(stage, LONG_NAME);
    await openSettings(stage);
  }),
  tillShot('key-ended', async ({ till, terminal, browser, sandbox }) => {
    const other = await browser.open();
    await other.page.goto(`${sandbox.web_url}/terminal#pair=${await terminal.pairingCode()}`);
    await other.page.getByRole('button', { name: /^Start shift/ }).waitFor();
    await other.close();
    await till.page.getByText('This device is no longer paired').waitFor();
  }),
  tillShot('elsewhere', async ({ till, sandbox }) => {
    const second = await till.context.newPage();
    await second.goto(`${sandbox.web_url}/terminal`);
    await second.getByRole('button', { name: 'Use it here' }).click();
    await tillOf({ ...till, page: second }).amount.waitFor();
    await till.page.bringToFront();
    await till.page.getByText('The till is open in another window').waitFor();
  }),
];

/**
 * Shows the text for an amount that waits for more than one block, after a tap that is still in
 * progress.
 */
async function showWaits({ till }: Counter, waits_for: string): Promise<void> {
  const waiting = { status: 'processing', payment: null, waits_for };
  await changeAnswers(till.page, /payment_intents\/[^/]+(\/tap|\?.*|$)/, (intent) => ({
    ...intent,
    ...waiting,
  }));
  await till.testPass.selectOption('ok');
  await till.page.getByText('The payment is on the chain').waitFor();
}

/** Screenshots of screens that a cashier seldom sees. */
const SELDOM: readonly Shot[] = [
  tillShot('manager-code', async ({ till, ...stage }) => {
    const { page } = till;
    await till.sell('6.75');
    const [paid] = await paymentsOf(stage.sandbox, stage.terminal);
    const other = await addTestTerminal(stage.sandbox, 'Counter 3');
    await page.goto(`${stage.sandbox.web_url}/terminal#pair=${await other.pairingCode()}`);
    await page.reload();
    await page.getByRole('button', { name: /^Pair/ }).click();
    await page.getByRole('link', { name: 'Find a sale' }).click();
    await page.getByRole('textbox', { name: 'Receipt or order' }).fill(`${paid?.receipt_number}`);
    await page.getByRole('textbox', { name: 'Amount' }).fill('6.75');
    await page.getByRole('button', { name: 'Look it up' }).click();
    await page.getByRole('button', { name: 'Refund' }).click();
    await page.getByRole('textbox', { name: 'Manager code' }).waitFor();
  }),
  tillShot('pair-again', async ({ till, sandbox }) => {
    const other = await addTestTerminal(sandbox, 'Counter 3');
    await till.page.goto(`${sandbox.web_url}/terminal#pair=${await other.pairingCode()}`);
    await till.page.reload();
    await till.page.getByText('Switch this till to another terminal?').waitFor();
  }),
  tillShot('large-sum', async (stage) => {
    await stage.till.ask('1234.56');
    await showWaits(stage, 'safe');
  }),
];

/** Allows offline sales by changing the service's responses, and cuts the till's connection. */
async function sellOffline({ till, terminal, sandbox }: Counter): Promise<OfflineWindow> {
  const { page } = till;
  await grantStorage(till);
  await changeAnswers(page, TERMINAL, (answer) => {
    const { chain_id, usdc, settlement } = sandbox.test;
    const offline_terms = {
      ...{ chain_id, usdc, usdc_name: 'USD Coin', usdc_version: '2', settlement },
      ...{ merchant_number: 1, rates: { acquirer: 90, protocol: 10, cashback: 0 } },
      ...{ rates_until: null, issued_at: new Date().toISOString(), blocked: [] },
    };
    return { ...answer, offline: WIDE_LIMITS, offline_terms };
  });
  await page.reload();
  const own = offlineControls(till, terminal);
  await becomesTrue(page, hasTerms);
  await own.cut();
  return own;
}

const OFFLINE: readonly Shot[] = [
  tillShot('offline-request', async (stage) => {
    await (await sellOffline(stage)).request('2.50');
  }),
  tillShot('offline-accepted', async (stage) => {
    const till = await sellOffline(stage);
    const wallet = privateKeyToAccount(generatePrivateKey());
    await till.sellTo(wallet, '2.50');
  }),
];

export const SHOTS: readonly Shot[] = [
  ...SELDOM,
  tillShot('find', async (stage) => {
    const { page } = stage.till;
    await sell(stage, '6.75');
    const [paid] = await paymentsOf(stage.sandbox, stage.terminal);
    await page.getByRole('link', { name: 'Find a sale' }).click();
    const field = page.getByRole('textbox', { name: 'Receipt or order' });
    await field.fill(String(paid?.receipt_number));
    await page.getByRole('button', { name: 'Look it up' }).click();
    await page.getByRole('button', { name: 'Refund' }).waitFor();
  }),
  tillShot('receipt', async (stage) => {
    await stage.till.sell('6.75');
    await stage.page.locator('button:enabled', { hasText: 'Code' }).click();
    await stage.page.getByRole('img', { name: 'The receipt' }).waitFor();
  }),
  ...PAIRING,
  ...SELLING,
  ...CAMERA,
  ...RESULTS,
  ...OFFLINE,
  ...PAGES,
];
