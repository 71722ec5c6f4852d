import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { payAt } from '../testing/desk.ts';
import { deskShot, dialogShot, emptyShot, pageShot, showLive } from '../testing/desk-shots.ts';
import { answerDays, daysOfShop, healthOfShop } from '../testing/month.ts';
import { LONG_NAME, RIGHT_TO_LEFT_NAME, type Shot } from '../testing/shots.ts';
import { addTestTerminal } from '../testing/till.ts';
import { STATE_SHOTS } from './state-shots.ts';

/** Starts a merchant's server that answers 200 to everything, even to invalid signatures. */
async function startCareless(): Promise<{ readonly url: string; close(): void }> {
  const server = createServer((_request, response) => void response.end('ok'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hooks`, close: () => server.close() };
}

const OUTSIDE: readonly Shot[] = [
  {
    name: 'sign-in-refused',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open();
      const { page } = window;
      await page.goto(`${sandbox.web_url}/dashboard`);
      await page.getByRole('textbox', { name: 'Email' }).fill('nobody@demo.test');
      await page.getByLabel('Password').fill('not the right one');
      await page.getByRole('button', { name: /^Sign in/ }).click();
      await page.getByRole('alert').waitFor();
      return window;
    },
  },
  {
    name: 'sign-up',
    show: async ({ browser, sandbox }) => {
      const window = await browser.open();
      await window.page.goto(`${sandbox.web_url}/dashboard/sign-up#token=of-a-mail`);
      await window.page.getByRole('button', { name: 'Open account' }).waitFor();
      return window;
    },
  },
];

/** The longest amount to display, in atoms: one atom below a payment's maximum. */
const LONGEST = 999_999_999_999;

const SALES: readonly Shot[] = [
  deskShot('overview-live', async (stage) => {
    await showLive(stage, 'pending');
    await stage.open('', 'Overview');
  }),
  deskShot('payment', async ({ sandbox, open, window }) => {
    const { id: terminal } = await addTestTerminal(sandbox, LONG_NAME);
    const { payment } = await payAt(sandbox, { terminal, amount: 12_340_000, tip: 1_850_000 });
    await open(`/payments/${payment}`, 'Payment');
    await window.page.getByText('In your ledger').waitFor();
  }),
  deskShot('payment-large', async ({ sandbox, open, window }) => {
    const { terminal } = sandbox.test;
    const { payment } = await payAt(sandbox, { terminal, amount: 2_345_678 });
    await window.page.route('**/timeline', async (route) => {
      const response = await route.fetch();
      const { settlements, ...rest } = await response.json();
      const waits = { included_at: '2026-11-20T10:00:00.000Z', waits_for: 'safe' };
      const large = settlements.map((one: object) => ({ ...one, ...waits }));
      await route.fulfill({ response, json: { ...rest, settlements: large } });
    });
    await open(`/payments/${payment}`, 'Payment');
    await window.page.getByText('In a block;').waitFor();
  }),
  deskShot('payment-long', async ({ sandbox, open, change }) => {
    const { terminal } = sandbox.test;
    const { payment } = await payAt(sandbox, { terminal, amount: 2_500_000 });
    await change('/test/payments/*', {
      ...{ amount: LONGEST, net: LONGEST, total_charged: LONGEST, status: 'partially_refunded' },
      amount_refunded: 999_999_000_001,
    });
    await open(`/payments/${payment}`, 'Payment');
  }),
  deskShot('refund-dialog', async ({ sandbox, open, window: { page } }) => {
    const { terminal } = sandbox.test;
    const { payment } = await payAt(sandbox, { terminal, amount: 4_350_000 });
    await open(`/payments/${payment}`, 'Payment');
    await page.getByRole('button', { name: /^Refund/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('5');
    await dialog.getByRole('button', { name: /^Refund/ }).click();
    await dialog.getByText(/can be refunded/).waitFor();
  }),
  deskShot('intent-declined', async ({ sandbox, open }) => {
    const { id: terminal } = await addTestTerminal(sandbox, RIGHT_TO_LEFT_NAME);
    const pass = 'insufficient_funds';
    const { intent } = await payAt(sandbox, { terminal, amount: 2_000_000, pass, tip: 300_000 });
    await open(`/intents/${intent}`, 'Intent');
  }),
  deskShot('overview', ({ open }) => open('', 'Overview')),
  deskShot('overview-month', async ({ open, window: { page } }) => {
    await answerDays(page, '**/test/statistics*', daysOfShop(60));
    await answerDays(page, '**/test/health*', healthOfShop(60));
    await open('', 'Overview');
  }),
  deskShot('overview-failing', async ({ open, change }) => {
    const days = Array.from({ length: 14 }, (_, ago) => {
      const day = new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
      const [refused, undelivered] = [ago % 5 === 0 ? 40 + ago : ago, ago % 7 === 2 ? 120 : 0];
      return {
        day,
        requests: 4_000,
        refused,
        failed: ago === 3 ? 9 : 0,
        delivered: 900,
        undelivered,
      };
    });
    await change('/test/health*', { data: days });
    await open('', 'Overview');
  }),
  deskShot('overview-first', async ({ open, change }) => {
    await change('/test/payments*', { data: [], has_more: false, next_cursor: null });
    await open('', 'Overview');
  }),
  deskShot('export-coming', async ({ open, window: { page } }) => {
    await page.route('**/exports/payments*', (route) => route.abort());
    await open('/payments', 'Payments');
    await page.getByRole('button', { name: 'Export' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Download' }).click();
    await dialog.getByText('The connection was lost').waitFor();
  }),
  pageShot('Payments', '/payments'),
  emptyShot('Payments', '/payments', 'payments'),
  deskShot('payments-nothing-fits', ({ open }) => open('/payments?status=refunded', 'Payments')),
  pageShot('Intents', '/intents'),
  emptyShot('Refunds', '/refunds', 'refunds'),
  dialogShot('export', { path: '/payments', title: 'Payments', button: /^Export/ }),
];

const MONEY: readonly Shot[] = [
  pageShot('Balance', '/balance'),
  deskShot('balance-12-digits', async ({ open, change }) => {
    await change('/test/balance', {
      available: [{ amount: LONGEST, currency: 'usdc' }],
      held_until: new Date(Date.now() + 86_400_000).toISOString(),
    });
    await open('/balance', 'Balance');
  }),
  deskShot('balance-live', async (stage) => {
    await showLive(stage, 'approved');
    await stage.open('/balance', 'Balance');
  }),
  deskShot('balance-not-verified', async (stage) => {
    await showLive(stage, 'pending');
    await stage.open('/balance', 'Balance');
  }),
  dialogShot('withdraw', { path: '/balance', title: 'Balance', button: /^Withdraw/ }),
];

/** The settings of a shop that prices in euros. */
const PRICED_SHOP = {
  currency: 'eur',
  tax_rates: [
    { name: 'Standard', rate: 2_300 },
    { name: LONG_NAME, rate: 750 },
  ],
  legal_name: LONG_NAME,
  address: 'Rua da Ribeira 12, 4050-513 Porto',
};

const ITEM = { object: 'catalogue_item', currency: 'eur', tax_inclusive: true, version: 1 };
const ITEMS = [
  { name: 'Flat white', unit_amount: 250, tax_rate: 2_300, color: '#8a5a33' },
  { name: LONG_NAME, unit_amount: 123_456_789, tax_rate: 750, color: null },
  { name: RIGHT_TO_LEFT_NAME, unit_amount: 990, tax_rate: 0, color: '#2f6fd0' },
  { name: 'Old price', unit_amount: 3_500_000, tax_rate: 2_300, color: null, currency: null },
].map((item, index) => ({ ...ITEM, id: `item_${index}`, position: index, ...item }));

const DEVELOPERS: readonly Shot[] = [
  pageShot('Terminals', '/terminals'),
  emptyShot('Terminals', '/terminals', 'terminals'),
  dialogShot('add-terminal', {
    ...{ path: '/terminals', title: 'Terminals' },
    button: /^Add terminal/,
  }),
  deskShot('terminal', async ({ open, sandbox }) => {
    const { id } = await addTestTerminal(sandbox, 'Counter 2');
    await open(`/terminals/${id}`, 'Terminal');
  }),
  deskShot('terminal-chip', async ({ open, sandbox, window: { page } }) => {
    const { id } = await addTestTerminal(sandbox, 'Counter 2');
    await open(`/terminals/${id}`, 'Terminal');
    await page.getByRole('button', { name: /^Set up a chip/ }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Set up a chip/ })
      .click();
    await page.getByRole('textbox', { name: 'Meta read key' }).waitFor();
  }),
  deskShot('catalog', async ({ open, change, window: { page } }) => {
    await change('', PRICED_SHOP);
    await change('/test/catalogue', { data: ITEMS });
    await open('/catalogue', 'Catalogue');
    await page.getByText('Flat white').waitFor();
  }),
  deskShot('catalog-item', async ({ open, change, window: { page } }) => {
    await change('', PRICED_SHOP);
    await change('/test/catalogue', { data: ITEMS });
    await open('/catalogue', 'Catalogue');
    await page.getByRole('button', { name: 'Edit Flat white' }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Price' }).fill('1,500');
  }),
  emptyShot('Catalogue', '/catalogue', 'catalogue'),
  pageShot('API keys', '/api-keys'),
  dialogShot('create-key', {
    ...{ path: '/api-keys', title: 'API keys' },
    button: /^Create API key/,
  }),
  emptyShot('Webhooks', '/webhooks', 'webhook_endpoints'),
  dialogShot('add-endpoint', {
    ...{ path: '/webhooks', title: 'Webhooks' },
    button: /^Add endpoint/,
  }),
  deskShot('webhook-checked', async ({ open, sandbox, window: { page } }) => {
    const { url, close } = await startCareless();
    const owner = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
    await owner.post('/session', sandbox.dashboard);
    const body = { url, enabled_events: ['*'] };
    const made = await owner.post(`/accounts/${sandbox.account}/test/webhook_endpoints`, body);
    await open(`/webhooks/${made.body.id}`, 'Webhook endpoint');
    await page.getByRole('button', { name: 'Check signatures' }).click();
    await page.getByText('Your server accepts forged events').waitFor();
    close();
  }),
  pageShot('Webhooks', '/webhooks'),
  pageShot('Events', '/events'),
  pageShot('Request log', '/request-log'),
];

const ACCOUNT: readonly Shot[] = [
  pageShot('Team', '/team'),
  pageShot('Settings', '/settings'),
  deskShot('settings-priced', async ({ open, change }) => {
    await change('', PRICED_SHOP);
    await open('/settings', 'Settings');
  }),
  pageShot('Verification', '/verification'),
  deskShot('verification-form', async ({ open, change }) => {
    await change('/kyb', {
      ...{ status: 'rejected', decision_reason: `The register does not know ${LONG_NAME}.` },
      details: { legal_name: LONG_NAME },
    });
    await open('/verification', 'Verification');
  }),
  pageShot('Risk rules', '/risk-rules'),
  pageShot('Audit log', '/audit-log'),
  deskShot('not-found', ({ open }) => open('/nowhere', 'Not found')),
  deskShot('payment-missing', ({ open }) => open('/payments/pay_nothing', 'Payment')),
  deskShot('payments-offline', async ({ open, window: { page } }) => {
    await page.route('**/test/payments?*', (route) => route.abort());
    await open('/payments', 'Payments');
    await page.getByRole('button', { name: 'Try again' }).waitFor();
  }),
];

export const SHOTS: readonly Shot[] = [
  ...[...OUTSIDE, ...SALES, ...MONEY, ...DEVELOPERS, ...ACCOUNT],
  ...STATE_SHOTS,
];
