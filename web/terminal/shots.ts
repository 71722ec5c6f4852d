import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { WIDE_LIMITS } from '#testing/offline-sales.ts';
import {
  grantStorage,
  hasTerms,
  type OfflineWindow,
  offlineControls,
  signRequest,
} from '../testing/offline.ts';
import { LONG_NAME, RIGHT_TO_LEFT_NAME, type Scene, type Shot } from '../testing/shots.ts';
import {
  addTestTerminal,
  intentsOf,
  openTill,
  paymentsOf,
  postAsMerchant,
  type TestTerminal,
  type TillWindow,
  tillOf,
} from '../testing/till.ts';

interface Stage extends Scene {
  readonly terminal: TestTerminal;
  readonly till: TillWindow;
}

/** Takes a screenshot of a till whose shift has begun. */
function tillShot(name: string, lead: (stage: Stage) => Promise<void>): Shot {
  return {
    name,
    show: async (scene) => {
      const terminal = await addTestTerminal(scene.sandbox, 'Counter 2');
      const till = await openTill(scene.browser, scene.sandbox, { terminal });
      await lead({ ...scene, terminal, till });
      return till;
    },
  };
}

/** Changes the merchant's name in the service's responses. */
async function rename({ till }: Stage, name: string): Promise<void> {
  await till.page.route('**/api/device/v1/terminal', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), merchant_name: name } });
  });
  await till.page.reload();
  await till.page.getByText(name).waitFor();
}

async function pay({ till }: Stage, amount: string, pass = 'ok'): Promise<void> {
  await till.ask(amount);
  await till.testPass.selectOption(pass);
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
    await postAsMerchant(stage.sandbox, '/payment_intents', {
      amount: 999_999_999_999,
      terminal: stage.terminal.id,
      description: `Table 7: ${LONG_NAME}`,
    });
    await stage.till.testPass.waitFor();
  }),
  tillShot('waiting-right-to-left', async (stage) => {
    await rename(stage, RIGHT_TO_LEFT_NAME);
    await postAsMerchant(stage.sandbox, '/payment_intents', {
      amount: 12_500_000,
      terminal: stage.terminal.id,
      description: 'طاولة ٧: قهوتان وكعكة',
    });
    await stage.till.testPass.waitFor();
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
    await stage.till.page.route('**/tap', () => {});
    await pay(stage, '2.50');
    await stage.till.result('Checking…').waitFor();
  }),
  tillShot('confirming', async (stage) => {
    await pay(stage, '2.50', 'confirm');
    await stage.till.result('Waiting for the customer to confirm').waitFor();
  }),
  tillShot('declined', async (stage) => {
    await pay(stage, '2.50', 'insufficient_funds');
    await stage.till.result('Declined').waitFor();
  }),
  tillShot('paid', async (stage) => {
    await pay(stage, '2.50');
    await stage.till.result('Paid').waitFor();
  }),
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
    for (const amount of ['2.50', '1234.05', '999999.99']) {
      await pay(stage, amount);
      await stage.till.result('Paid').waitFor();
      await stage.till.newPayment.click();
    }
    await stage.till.page.getByRole('link', { name: 'History' }).click();
    await stage.till.page.getByText('1,234.05').waitFor();
  }),
  tillShot('payment', async (stage) => {
    await pay(stage, '12.50');
    await stage.till.result('Paid').waitFor();
    await stage.till.newPayment.click();
    await stage.till.page.getByRole('button', { name: 'Last payment' }).click();
    await stage.till.page.getByRole('button', { name: /^Refund/ }).waitFor();
  }),
  tillShot('refund', async (stage) => {
    await pay(stage, '12.50');
    await stage.till.result('Paid').waitFor();
    await stage.till.newPayment.click();
    await stage.till.page.getByRole('button', { name: 'Last payment' }).click();
    await stage.till.page.getByRole('button', { name: /^Refund/ }).click();
    await stage.till.page.getByRole('dialog').waitFor();
  }),
  tillShot('refunded', async (stage) => {
    await pay(stage, '12.50');
    await stage.till.result('Paid').waitFor();
    await stage.till.newPayment.click();
    await stage.till.page.getByRole('button', { name: 'Last payment' }).click();
    await stage.till.page.getByRole('button', { name: /^Refund/ }).click();
    await stage.till.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Refund/ })
      .click();
    await stage.till.page.getByText('Refunded', { exact: true }).first().waitFor();
  }),
  tillShot('totals', async (stage) => {
    await stage.till.page.getByRole('link', { name: 'Settings' }).click();
    await stage.till.page.getByRole('textbox', { name: 'Cashier' }).fill('Ada Lovelace');
    await stage.till.page.getByRole('link', { name: 'Till' }).click();
    await pay(stage, '12.50');
    await stage.till.result('Paid').waitFor();
    await stage.till.newPayment.click();
    await stage.till.page.getByRole('link', { name: 'Totals' }).click();
    await stage.till.page.getByText('Refunds (0)').first().waitFor();
  }),
  tillShot('settings', async ({ till }) => {
    await till.page.getByRole('link', { name: 'Settings' }).click();
    await till.page.getByRole('heading', { name: 'This device' }).waitFor();
  }),
  tillShot('usb-reader', async ({ till }) => {
    await till.page.getByRole('link', { name: 'Settings' }).click();
    await till.page.getByRole('button', { name: /^Connect a USB reader/ }).click();
    await till.page.getByRole('textbox', { name: 'Command' }).scrollIntoViewIfNeeded();
  }),
  tillShot('locked', async ({ till }) => {
    await till.page.getByRole('link', { name: 'Settings' }).click();
    await till.page.getByRole('textbox', { name: 'PIN' }).fill('2468');
    await till.page.getByRole('button', { name: 'Set PIN' }).click();
    await till.page.getByRole('button', { name: 'Lock' }).click();
    await till.page.getByRole('heading', { name: 'Locked' }).waitFor();
  }),
  tillShot('locked-wrong', async ({ till }) => {
    await till.page.getByRole('link', { name: 'Settings' }).click();
    await till.page.getByRole('textbox', { name: 'PIN' }).fill('2468');
    await till.page.getByRole('button', { name: 'Set PIN' }).click();
    await till.page.getByRole('button', { name: 'Lock' }).click();
    await till.page.getByRole('textbox', { name: 'PIN' }).fill('1111');
    await till.page.getByRole('button', { name: 'Unlock' }).click();
    await till.page.locator('[aria-invalid="true"]').waitFor();
  }),
  tillShot('end-of-shift', async ({ till }) => {
    await till.page.getByRole('link', { name: 'Totals' }).click();
    await till.page.getByRole('button', { name: 'End shift' }).click();
    await till.page.getByRole('dialog').waitFor();
  }),
  tillShot('settings-long', async (stage) => {
    await rename(stage, LONG_NAME);
    await stage.till.page.getByRole('link', { name: 'Settings' }).click();
    await stage.till.page.getByRole('heading', { name: 'This device' }).waitFor();
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
async function showWaits({ till }: Stage, waits_for: string): Promise<void> {
  await till.page.route(/payment_intents\/[^/]+(\/tap|\?.*|$)/, async (route) => {
    try {
      const response = await route.fetch();
      const intent = { ...(await response.json()), status: 'processing', payment: null, waits_for };
      await route.fulfill({ response, json: intent });
    } catch {
      // The window was closed while a long poll was in flight.
    }
  });
  await till.testPass.selectOption('ok');
  await till.page.getByText('The payment is on the chain').waitFor();
}

/** Screenshots of screens that a cashier seldom sees. */
const SELDOM: readonly Shot[] = [
  tillShot('manager-code', async ({ till, ...stage }) => {
    const { page } = till;
    await pay({ till, ...stage }, '6.75');
    await till.result('Paid').waitFor();
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
async function sellOffline({ till, terminal, sandbox }: Stage): Promise<OfflineWindow> {
  const { page } = till;
  await grantStorage(till);
  await page.route('**/api/device/v1/terminal', async (route) => {
    const response = await route.fetch();
    const { chain_id, usdc, settlement } = sandbox.test;
    const offline_terms = {
      ...{ chain_id, usdc, usdc_name: 'USD Coin', usdc_version: '2', settlement },
      ...{ merchant_number: 1, rates: { acquirer: 90, protocol: 10, cashback: 0 } },
      ...{ rates_until: null, issued_at: new Date().toISOString(), blocked: [] },
    };
    const json = { ...(await response.json()), offline: WIDE_LIMITS, offline_terms };
    await route.fulfill({ response, json });
  });
  await page.reload();
  const own = offlineControls(till, terminal);
  await page.waitForFunction(hasTerms);
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
    await till.answer(await signRequest(wallet, await till.request('2.50')));
    await till.result('Accepted offline').waitFor();
  }),
];

export const SHOTS: readonly Shot[] = [
  ...SELDOM,
  tillShot('find', async (stage) => {
    const { page } = stage.till;
    await pay(stage, '6.75');
    await stage.till.result('Paid').waitFor();
    const [paid] = await paymentsOf(stage.sandbox, stage.terminal);
    await stage.till.newPayment.click();
    await page.getByRole('link', { name: 'Find a sale' }).click();
    const field = page.getByRole('textbox', { name: 'Receipt or order' });
    await field.fill(String(paid?.receipt_number));
    await page.getByRole('button', { name: 'Look it up' }).click();
    await page.getByRole('button', { name: 'Refund' }).waitFor();
  }),
  tillShot('receipt', async (stage) => {
    await pay(stage, '6.75');
    await stage.till.page.locator('button:enabled', { hasText: 'Receipt' }).click();
    await stage.till.page.getByRole('img', { name: 'The receipt' }).waitFor();
  }),
  ...PAIRING,
  ...SELLING,
  ...CAMERA,
  ...RESULTS,
  ...OFFLINE,
  ...PAGES,
];
