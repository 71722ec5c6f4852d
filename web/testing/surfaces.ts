import { deskShot } from './desk-shots.ts';
import { askForPayment, fundedAccount, injectWallet } from './payer.ts';
import type { Look, Scene, Shot } from './shots.ts';
import { signInAsStaff } from './staff.ts';
import { addTestTerminal, type Counter, newTill, openDisplay, postAsMerchant } from './till.ts';
import { tillShotsAt } from './till-shots.ts';
import { readyWallet, tapPass } from './wallet.ts';

/**
 * `npm run shots -- --surfaces`: the first screen of each surface, in a shop with days of sales
 * (`shop-days.ts`), at the three widths that a visual review compares.
 */
export const SURFACE_LOOKS: readonly Look[] = [
  { name: '390', width: 390, height: 844, colorScheme: 'light' },
  { name: '820', width: 820, height: 1180, colorScheme: 'light' },
  { name: '1440', width: 1440, height: 900, colorScheme: 'light' },
  { name: '390-dark', width: 390, height: 844, colorScheme: 'dark' },
  { name: '1440-dark', width: 1440, height: 900, colorScheme: 'dark' },
];

/**
 * Takes a screenshot of a page that needs only its URL. The page is ready when this text is
 * visible.
 */
function addressShot(name: string, path: string, text: string): Shot {
  return {
    name,
    show: async ({ browser, sandbox }) => {
      const window = await browser.open();
      await window.page.goto(`${sandbox.web_url}${path}`);
      await window.page.getByText(text).first().waitFor();
      return window;
    },
  };
}

const LABEL = 'Window';

const tillShot = tillShotsAt(LABEL);

function displayShot(name: string, lead: (counter: Counter) => Promise<void>): Shot {
  return {
    name,
    show: async (scene) => {
      const counter = await newTill(scene, undefined, { label: LABEL });
      const { till } = counter;
      const page = await openDisplay(till);
      await till.page.getByRole('link', { name: 'Keypad' }).click();
      await till.ask('12.80');
      await lead(counter);
      return { ...till, page };
    },
  };
}

const TILL: readonly Shot[] = [
  tillShot('till', ({ till }) => till.amount.fill('12.80')),
  tillShot('till-waiting', ({ till }) => till.ask('12.80')),
  tillShot('till-paid', async ({ till }) => {
    await till.sell('12.80');
  }),
  tillShot('till-declined', async ({ till }) => {
    await till.ask('12.80');
    await till.testPass.selectOption('insufficient_funds');
    await till.result('Declined').waitFor();
  }),
  tillShot('till-refused', async ({ till }) => {
    await till.amount.fill('1,500');
    await till.page.locator('[aria-invalid="true"]').waitFor();
  }),
  tillShot('till-history', async ({ till, sandbox, terminal }) => {
    for (const amount of [4_200_000, 12_800_000, 7_350_000, 23_900_000]) {
      const intent = await postAsMerchant(sandbox, '/payment_intents', {
        amount,
        terminal: terminal.id,
      });
      const path = `/test_helpers/terminals/${terminal.id}/tap`;
      await postAsMerchant(sandbox, path, { payment_intent: intent.id });
    }
    await till.page.getByRole('link', { name: 'History' }).click();
    await till.page.getByText('23.90').first().waitFor();
  }),
  displayShot('display', async ({ till }) => {
    await till.testPass.waitFor();
  }),
  displayShot('display-paid', async ({ till }) => {
    await till.pay();
  }),
];

async function payLink({ browser, sandbox }: Scene) {
  const terminal = await addTestTerminal(sandbox, LABEL);
  const { id, url } = await askForPayment(sandbox, terminal, { amount: 12_800_000 });
  const window = await browser.open();
  await injectWallet(window, sandbox, await fundedAccount(sandbox, 20_000_000n));
  await window.page.goto(url);
  const button = window.page.getByRole('button', { name: /^Pay / });
  await button.waitFor();
  return { window, button, intent: id };
}

const CUSTOMER: readonly Shot[] = [
  { name: 'pay', show: async (scene) => (await payLink(scene)).window },
  {
    name: 'pay-paid',
    show: async (scene) => {
      const { window, button } = await payLink(scene);
      await button.click();
      await window.page.getByText('Paid').first().waitFor();
      return window;
    },
  },
  {
    name: 'receipt',
    show: async (scene) => {
      const { window, button } = await payLink(scene);
      await button.click();
      const link = window.page.getByRole('link', { name: /receipt/i });
      await window.page.goto((await link.getAttribute('href')) ?? '');
      await window.page.getByRole('status').filter({ hasText: /^[✓✗]/ }).waitFor();
      return window;
    },
  },
  ...(['wallet', 'wallet-history'] as const).map((name) => ({
    name,
    show: async ({ browser, sandbox }: Scene) => {
      const { wallet, pass } = await readyWallet(browser, sandbox);
      const terminal = await addTestTerminal(sandbox, LABEL);
      for (const amount of [4_200_000, 12_800_000, 7_350_000, 3_900_000, 8_100_000]) {
        await tapPass(sandbox, { terminal, amount, pass });
      }
      await wallet.goTo(name === 'wallet' ? 'Home' : 'History');
      await wallet.sees('8.1');
      // Waits until the toasts about these payments have disappeared.
      await wallet.page.locator('.toasts:not(:has(*))').waitFor({ state: 'attached' });
      return wallet;
    },
  })),
];

/** The signed-in session. Staff prove a second factor once; later pages reuse it. */
let staff: Awaited<ReturnType<Scene['browser']['open']>> | null = null;

function operatorShot(name: string, path: string, title: string): Shot {
  return {
    name,
    show: async ({ browser, sandbox }) => {
      const kept = await staff?.context.storageState();
      const window = await browser.open(kept === undefined ? {} : { storageState: kept });
      if (kept === undefined) {
        await signInAsStaff(window, { sandbox });
        staff = await browser.open({ storageState: await window.context.storageState() });
      }
      await window.page.goto(`${sandbox.web_url}/operator${path}`);
      await window.page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await window.page.waitForLoadState('networkidle');
      return window;
    },
  };
}

const DESK_PAGES = [
  ['dashboard', '', 'Overview'],
  ['dashboard-payments', '/payments', 'Payments'],
  ['dashboard-intents', '/intents', 'Intents'],
  ['dashboard-refunds', '/refunds', 'Refunds'],
  ['dashboard-balance', '/balance', 'Balance'],
  ['dashboard-terminals', '/terminals', 'Terminals'],
  ['dashboard-events', '/events', 'Events'],
  ['dashboard-request-log', '/request-log', 'Request log'],
] as const;

const OPERATOR_PAGES = [
  ['operator', '', 'Action required'],
  ['operator-accounts', '/accounts', 'Accounts'],
  ['operator-payers', '/payers', 'Payers'],
  ['operator-relayers', '/relayers', 'Relayers'],
  ['operator-queues', '/queues', 'Queues'],
  ['operator-reconciliation', '/reconciliation', 'Reconciliation'],
  ['operator-contract', '/contract', 'Contract'],
  ['operator-audit-log', '/audit-log', 'Audit log'],
  ['operator-settings', '/settings', 'Settings'],
] as const;

export const SURFACES: readonly Shot[] = [
  addressShot('front', '', 'testnet is settling'),
  addressShot('docs', '/docs', 'Guides'),
  addressShot('docs-quickstart', '/docs/quickstart', 'Quickstart'),
  ...TILL,
  ...CUSTOMER,
  ...DESK_PAGES.map(([name, path, title]) => deskShot(name, ({ open }) => open(path, title))),
  deskShot('dashboard-payment', async ({ open, window: { page } }) => {
    await open('/payments', 'Payments');
    await page.getByRole('main').getByRole('row').nth(1).getByRole('link').first().click();
    await page.getByRole('heading', { name: 'Payment', level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
  }),
  ...OPERATOR_PAGES.map(([name, path, title]) => operatorShot(name, path, title)),
];
