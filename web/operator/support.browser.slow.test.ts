import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { startReceiver, type TestReceiver } from '#testkit/network/webhook-receiver.ts';
import { DESKTOP, PHONE, type TestWindow } from '../testing/browser.ts';
import { payAt } from '../testing/desk.ts';
import { checkFits } from '../testing/page-width.ts';
import { openSignedIn } from '../testing/signed-in.ts';
import { signInAsStaff } from '../testing/staff.ts';
import { ownStage } from '../testing/stage.ts';
import { addTestTerminal } from '../testing/till.ts';

/**
 * Creates payments with typical problems in a real sandbox. Each test then finds the cause, and the
 * answer for the caller, in the console alone.
 */

let desk: TestWindow;
let shop: TestReceiver | null = null;

const stage = ownStage(async ({ sandbox, browser }) => {
  desk = await browser.open(DESKTOP);
  await signInAsStaff(desk, { sandbox, path: 'operator/support' });
  await desk.page.getByRole('heading', { name: 'Support', level: 1 }).waitFor();
});

after(() => shop?.close());

type Body = Record<string, unknown> & { readonly id: string };

async function call(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<Body> {
  const { sandbox } = stage();
  const response = await fetch(`${sandbox.base_url}/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${sandbox.test.secret_key}`,
      'Content-Type': 'application/json',
      ...(method === 'POST' ? { 'Idempotency-Key': crypto.randomUUID() } : {}),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Body;
  assert.ok(response.ok, JSON.stringify(answer));
  return answer;
}

async function ask(terminal: string): Promise<Body> {
  return call('POST', '/payment_intents', { amount: 2_500_000, terminal, expires_in: 600 });
}

async function tap(intent: Body, pass: keyof SandboxFile['test']['passes']): Promise<Body> {
  return call('POST', `/test_helpers/terminals/${intent.terminal}/tap`, {
    payment_intent: intent.id,
    credential: { type: 'nfc_id', value: stage().sandbox.test.passes[pass] },
  });
}

/** Polls once. A till polls continuously. */
async function pollOnce(deviceKey: string): Promise<void> {
  const response = await fetch(
    `${stage().sandbox.base_url}/device/v1/payment_intents/next?wait=1`,
    {
      headers: { Authorization: `Bearer ${deviceKey}` },
    },
  );
  await response.arrayBuffer();
}

/** Searches for the reference that the caller gives, enters a reason, and opens the payment. */
async function open({ page }: TestWindow, named: string): Promise<void> {
  await page.goto(`${stage().sandbox.web_url}/operator/support`);
  await page.getByLabel('Search').fill(named);
  await page.keyboard.press('Enter');
  await page
    .getByRole('table', { name: 'Found' })
    .getByRole('link', { name: 'pi_' })
    .first()
    .click();
  await page.getByLabel('Reason').fill('The customer called.');
  await page.getByRole('button', { name: 'View' }).click();
  await page.getByRole('region', { name: 'Status' }).waitFor();
}

async function says({ page }: TestWindow, ...titles: readonly string[]): Promise<void> {
  const region = page.getByRole('region', { name: 'Status' });
  for (const title of titles) await region.getByText(title, { exact: true }).waitFor();
}

interface Stuck {
  readonly name: string;
  /** Creates the problem. @returns the reference that the caller gives. */
  readonly prepare: () => Promise<string>;
  readonly says: readonly string[];
}

async function paid(): Promise<Body> {
  const { sandbox } = stage();
  const { payment } = await payAt(sandbox, { terminal: sandbox.test.terminal, amount: 3_200_000 });
  return call('GET', `/payments/${payment}`);
}

const STUCK: readonly Stuck[] = [
  {
    name: 'a till that is closed',
    prepare: async () => (await ask((await addTestTerminal(stage().sandbox)).id)).id,
    says: ['The terminal has not been seen for two minutes'],
  },
  {
    name: 'a till that shows it, and a customer whose tap was not read',
    prepare: async () => {
      const { id, deviceKey } = await addTestTerminal(stage().sandbox);
      const intent = await ask(id);
      await pollOnce(deviceKey);
      return String(intent.order_id);
    },
    says: ['The terminal shows it, and no pass was tapped'],
  },
  {
    name: 'a customer without enough money',
    prepare: async () => {
      const { id, deviceKey } = await addTestTerminal(stage().sandbox);
      const intent = await ask(id);
      await pollOnce(deviceKey);
      await tap(intent, 'insufficient_funds');
      return String(intent.order_id);
    },
    says: ['The last tap was declined', 'The terminal shows it, and no pass was tapped'],
  },
  {
    name: 'a customer who has not confirmed in the app',
    prepare: async () => {
      const intent = await ask(stage().sandbox.test.terminal);
      await tap(intent, 'confirm');
      return intent.id;
    },
    says: ['The customer has to approve it in the wallet app'],
  },
  {
    name: 'a sale that the shop has canceled',
    prepare: async () => {
      const intent = await ask(stage().sandbox.test.terminal);
      await call('POST', `/payment_intents/${intent.id}/cancel`);
      return String(intent.order_id);
    },
    says: ['The shop has canceled it'],
  },
  {
    name: 'a paid sale of a shop whose server listens to nothing',
    prepare: async () => String((await paid()).receipt_number),
    says: ['Paid', 'No webhook endpoint of the shop is subscribed to it'],
  },
  {
    name: 'a paid sale whose webhook the shop’s server refuses',
    prepare: async () => {
      shop = await startReceiver();
      shop.answer((_received, response) => {
        response.statusCode = 500;
        response.end('no such table: orders');
      });
      await call('POST', '/webhook_endpoints', { url: shop.url, enabled_events: ['*'] });
      const { id, tx_hash: hash } = await paid();
      await shop.waitFor(1);
      assert.ok(id);
      return String(hash);
    },
    says: ['Paid', 'The shop’s server does not accept the webhook'],
  },
  {
    name: 'a paid sale that the shop’s server has confirmed and lost',
    prepare: async () => {
      shop?.answer((_received, response) => void response.end('ok'));
      const endpoints = (await call('GET', '/webhook_endpoints')).data as unknown as Body[];
      for (const { id } of endpoints) await call('PATCH', `/webhook_endpoints/${id}`, ENABLED);
      return (await paid()).id;
    },
    says: ['Paid', 'The shop’s server was notified and confirmed it'],
  },
  {
    name: 'a paid sale of a shop that has switched its endpoint off',
    prepare: async () => {
      const endpoints = (await call('GET', '/webhook_endpoints')).data as unknown as Body[];
      for (const { id } of endpoints) await call('PATCH', `/webhook_endpoints/${id}`, DISABLED);
      return (await paid()).id;
    },
    says: ['Paid', 'The shop’s webhook endpoint is disabled'],
  },
  {
    name: 'a sale that was paid back',
    prepare: async () => {
      const payment = await paid();
      await call('POST', '/refunds', { payment: payment.id });
      return String(payment.receipt_number);
    },
    says: ['Paid', 'Refunded'],
  },
];

const ENABLED = { status: 'enabled' } as const;
const DISABLED = { status: 'disabled' } as const;

for (const { name, prepare, says: titles } of STUCK) {
  test(`the console explains ${name}`, async () => {
    await open(desk, await prepare());
    await says(desk, ...titles);
  });
}

test('a queue’s page lists its rows', async () => {
  const { page } = desk;
  await page.goto(`${stage().sandbox.web_url}/operator/queues`);
  await page.getByRole('link', { name: 'mails given up' }).click();
  await page.getByRole('heading', { name: 'Mails given up', level: 1 }).waitFor();
  await page.getByText('This queue is empty').waitFor();
  await desk.checkAccessibility();
  await open(desk, (await paid()).id);
});

test('the page is accessible and fits a phone, and the shop sees who viewed it', async () => {
  const { sandbox } = stage();
  await desk.checkAccessibility();
  await desk.page.setViewportSize(PHONE.viewport);
  await desk.checkAccessibility();
  await checkFits(desk.page);
  const owner = await openSignedIn(stage(), 'dashboard/audit-log');
  const entry = owner.page.getByRole('row').filter({ hasText: 'payment_intent.read_by_support' });
  await entry.filter({ hasText: 'The customer called.' }).first().waitFor();
  await entry.filter({ hasText: sandbox.operator.email }).first().waitFor();
  await owner.closeClean();
});
