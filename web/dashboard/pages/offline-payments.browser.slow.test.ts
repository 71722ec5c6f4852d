import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { systemClock } from '#core/clock.ts';
import { setLimits } from '#testkit/apis/offline-sales.ts';
import { addMember, PASSWORD } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import type { OfflinePayment } from '../../data/types/dashboard.ts';
import { DESKTOP, NARROW, PHONE } from '../../testing/browser.ts';
import { payAt, signInAt, textOf } from '../../testing/desk.ts';
import { checkFits } from '../../testing/page-width.ts';
import { openSignedIn, setUpFactor } from '../../testing/signed-in.ts';
import { ownStage } from '../../testing/stage.ts';
import {
  addTestTerminal,
  intentsOf,
  paymentsOf,
  postAsMerchant,
  setShop,
  type TestTerminal,
} from '../../testing/till.ts';

/**
 * Tests offline sales: their limits on a terminal's page, their list, and a file from a lost till.
 */

const stage = ownStage();

const LIMITS = {
  'Per payment': '50',
  'Per card and day': '80',
  Total: '500',
  Count: '20',
  Hours: '24',
};

/** Returns a field of the limits. The label of a sum ends with its currency. */
function fieldOf(page: Page, label: string): Locator {
  return page.getByRole('dialog').getByRole('textbox', { name: new RegExp(`^${label}`) });
}

async function fillIn(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  await page.getByRole('button', { name: /^Offline sales/ }).click();
  for (const [label, value] of Object.entries(fields)) await fieldOf(page, label).fill(value);
}

async function send(url: string, key: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  assert.ok(response.status < 300, text);
  return JSON.parse(text);
}

/** Signs a sale with the wallet of a demo pass, as a wallet does at a till without a connection. */
function signSale(terminal: TestTerminal, wish: { amount: number; pass?: string }) {
  const { sandbox } = stage();
  const url = `${sandbox.base_url}/v1/test_helpers/terminals/${terminal.id}/offline_payment`;
  return send(url, sandbox.test.secret_key, wish);
}

interface Forwarded {
  readonly id: string;
  readonly status: string;
  readonly payment: string | null;
}

async function forward(terminal: TestTerminal, payments: readonly object[]): Promise<Forwarded[]> {
  const url = `${stage().sandbox.base_url}/device/v1/offline_payments`;
  const { data } = await send(url, terminal.deviceKey, { payments });
  return data as Forwarded[];
}

test('offline sales are listed with their result, filtered, exported and linked', async () => {
  const { sandbox, browser, db } = stage();
  const terminal = await addTestTerminal(sandbox, 'Ferry');
  const window = await browser.open(DESKTOP);
  const { page } = window;
  await setLimits({ store: { db, terminalId: terminal.id } });
  await signInAt(window, { sandbox, path: 'dashboard' });
  const records = [
    await signSale(terminal, { amount: 4_200_000 }),
    await signSale(terminal, { amount: 9_100_000, pass: 'insufficient_funds' }),
  ];
  const ended = await eventually('the chain decides', async () => {
    const sales = await forward(terminal, records);
    return sales.every(({ status }) => status !== 'processing') && sales;
  });
  assert.deepEqual(
    ended.map(({ status }) => status),
    ['succeeded', 'bounced'],
  );
  const [paid, bounced] = ended as [Forwarded, Forwarded];

  await page.getByRole('navigation').getByRole('link', { name: 'Offline sales' }).first().click();
  await page.getByRole('heading', { name: 'Offline sales', level: 1 }).waitFor();
  await page
    .getByRole('row', { name: new RegExp(`${paid.id}.*4\\.20.*${paid.payment}.*Ferry`) })
    .waitFor();
  await page.getByRole('row', { name: new RegExp(`${bounced.id}.*Bounced`) }).waitFor();
  const figure = (name: string) =>
    page.locator('dt', { hasText: name }).locator('xpath=following-sibling::dd[1]').textContent();
  assert.match(String(await figure('Paid (1)')), /4\.20/);
  assert.match(String(await figure('Bounced offline sales (1)')), /9\.10/);
  await window.checkAccessibility();
  await page.setViewportSize(PHONE.viewport);
  await checkFits(page);
  await page.setViewportSize(NARROW.viewport);
  await checkFits(page);
  await page.setViewportSize(DESKTOP.viewport);
  await page.getByLabel('Status').selectOption('bounced');
  await page.getByRole('row', { name: new RegExp(paid.id) }).waitFor({ state: 'hidden' });
  await page.getByText('The wallet does not hold enough USDC.').waitFor();

  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Export' }).click();
  await page.getByRole('button', { name: 'Download' }).click();
  const file = await textOf(await saved);
  assert.ok(file.includes(paid.id) && file.includes('insufficient_funds'), file);
  await page.getByRole('button', { name: 'Done' }).click();

  await page.getByRole('link', { name: new RegExp(bounced.id) }).click();
  await page.getByRole('heading', { name: 'Offline sale', level: 1 }).waitFor();
  await page.getByText('A bounce is final.').waitFor();
  let polls = 0;
  page.on('request', (request) => {
    if (request.url().includes(`/offline_payments/${bounced.id}`)) polls += 1;
  });
  await page.waitForTimeout(7_000);
  assert.equal(polls, 0, 'a sale that is decided is read once');
  await window.checkAccessibility();

  await page.goto(`${sandbox.web_url}/dashboard/payments/${paid.payment}`);
  await page.getByText('Accepted offline').waitFor();
  await page.getByRole('link', { name: paid.id }).waitFor();
  await page.getByRole('link', { name: 'Receipt' }).click();
  await page.getByText('Accepted offline').waitFor();
  await page.goto(`${sandbox.web_url}/dashboard/balance`);
  await page.getByText('Accepted offline (1), included above').waitFor();
  await window.closeClean();
});

/** By bounce reason, words of the advice that the owner reads on the sale's page. */
const ADVICE = {
  insufficient_funds: 'ask them to add USDC and pay again',
  authorization_expired: 'Connect the till at least once a day',
  authorization_used: 'If you know the customer, ask them to pay again.',
  authorization_invalid: 'Check the clock of the till',
  rates_changed: 'connect each till once before it sells offline',
  blocked: 'If your own rule blocks this one, you can remove the block.',
  limit_exceeded: 'raise the limits on the till’s page',
  already_paid: 'There is nothing to do.',
  wallet_refuses: 'Ask the customer to pay with another card or wallet.',
} satisfies Readonly<Record<NonNullable<OfflinePayment['bounce_reason']>, string>>;

test('for each bounce reason, the owner reads what to do about the sale', async () => {
  const { sandbox, db } = stage();
  const terminal = await addTestTerminal(sandbox, 'Bounces');
  await setLimits({ store: { db, terminalId: terminal.id } });
  const record = await signSale(terminal, { amount: 3_300_000, pass: 'insufficient_funds' });
  const { id } = await eventually('the sale bounces', async () => {
    const [sale] = await forward(terminal, [record]);
    return sale?.status === 'bounced' && sale;
  });
  const path = `dashboard/offline-payments/${id}`;
  const window = await openSignedIn(stage(), path);
  const { page } = window;
  for (const [reason, advice] of Object.entries(ADVICE)) {
    // The page depends on the stored reason only, so one bounced sale serves for all reasons.
    const change = 'update offline_payments set bounce_reason = $2 where id = $1';
    await db.query(change, [id, reason]);
    await page.goto(`${sandbox.web_url}/${path}`);
    await page.getByText(advice).waitFor();
    const blocks = await page.getByText('each of your tills refuses offline payments').count();
    assert.equal(blocks, reason === 'already_paid' ? 0 : 1, reason);
  }
  await window.closeClean();
});

test('the file of a deactivated till is submitted, and each sale is paid once', async () => {
  const { sandbox, db } = stage();
  const terminal = await addTestTerminal(sandbox, 'Lost till');
  const window = await openSignedIn(stage(), `dashboard/terminals/${terminal.id}`);
  const { page } = window;
  const dialog = page.getByRole('dialog');
  await setLimits({ store: { db, terminalId: terminal.id } });
  const sale = await signSale(terminal, { amount: 1_300_000 });
  const other = await signSale(terminal, { amount: 1_400_000 });
  const forged = { ...sale, authorization: { ...(sale.authorization as object), value: 1 } };
  await page.getByRole('button', { name: 'Turn off' }).click();
  await dialog.getByRole('button', { name: 'Turn off' }).click();
  await dialog.waitFor({ state: 'hidden' });

  await page.goto(`${sandbox.web_url}/dashboard/offline-payments`);
  const handIn = async (text: string) => {
    await page.getByRole('button', { name: 'Hand in a file' }).click();
    await dialog.getByLabel('Terminal').selectOption('Lost till');
    const buffer = Buffer.from(text);
    const upload = { name: 'sales.json', mimeType: 'application/json', buffer };
    await dialog.getByLabel('File', { exact: true }).setInputFiles(upload);
    await dialog.getByRole('button', { name: 'Hand in a file' }).click();
  };
  await handIn('nothing of a till');
  await dialog.getByText('This is not an offline sales file.').waitFor();
  await window.checkAccessibility();
  await page.keyboard.press('Escape');
  const file = JSON.stringify({ payments: [sale, other, forged] });
  for (let time = 0; time < 2; time++) {
    await handIn(file);
    await dialog.getByText('2 sales were accepted.').waitFor();
    await dialog.getByText('1 record was not accepted').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
  }
  await page.getByLabel('Terminal').selectOption('Lost till');
  await page.getByRole('row', { name: /1\.30.*Succeeded/ }).waitFor();
  await page.getByRole('row', { name: /1\.40.*Succeeded/ }).waitFor();
  const rows = page.getByRole('row', { name: /ofp_/ });
  await eventually('the list is filtered', async () => (await rows.count()) === 2);
  for (const row of await rows.all())
    assert.match(String(await row.textContent()), /pay_.*Lost till/s);
  const paid = await paymentsOf(sandbox, terminal);
  const sums = paid.map(({ amount, status }) => `${amount} ${status}`).toSorted();
  assert.deepEqual(sums, ['1300000 succeeded', '1400000 succeeded']);
  await page.goto(`${sandbox.web_url}/dashboard/audit-log`);
  await page
    .getByText(/offline_payments_handed_in/)
    .first()
    .waitFor();
  // Adds more tills than one page of the API's list holds, all newer than the lost till.
  const owner = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  await owner.post('/session', sandbox.dashboard);
  for (let made = 0; made < 101; made++) {
    const path = `/accounts/${sandbox.account}/test/terminals`;
    assert.equal((await owner.post(path, { label: `Newer ${made}` })).status, 201);
  }
  for (const list of ['payments', 'intents', 'offline-payments']) {
    await page.goto(`${sandbox.web_url}/dashboard/${list}`);
    await page.getByLabel('Terminal').selectOption('Lost till');
  }
  // A failed read must not look like a shop without tills.
  await page.route('**/terminals?*', (route) => route.abort());
  await page.goto(`${sandbox.web_url}/dashboard/offline-payments`);
  await page.getByRole('button', { name: 'Hand in a file' }).click();
  const again = dialog.getByRole('button', { name: 'Try again' });
  await again.waitFor();
  assert.ok(await dialog.getByLabel('Terminal').isDisabled());
  await page.unroute('**/terminals?*');
  await again.click();
  await dialog.getByLabel('Terminal').selectOption('Lost till');
  await window.closeClean(/Failed to load resource|ERR_FAILED/);
});

test('a submitted sale cancels the payment it replaces, or bounces if that was paid', async () => {
  const { sandbox, db } = stage();
  const terminal = await addTestTerminal(sandbox, 'Broken till');
  const window = await openSignedIn(stage(), 'dashboard/offline-payments');
  const { page } = window;
  const dialog = page.getByRole('dialog');
  await setLimits({ store: { db, terminalId: terminal.id } });
  const answer = { amount: 2_100_000, terminal: terminal.id };
  const open = String((await postAsMerchant(sandbox, '/payment_intents', answer)).id);
  const { intent: paid } = await payAt(sandbox, { terminal: terminal.id, amount: 2_200_000 });
  const payments = [
    { ...(await signSale(terminal, { amount: 2_100_000 })), replaces: open },
    { ...(await signSale(terminal, { amount: 2_200_000 })), replaces: paid },
  ];
  const buffer = Buffer.from(JSON.stringify({ payments }));
  await page.getByRole('button', { name: 'Hand in a file' }).click();
  await dialog.getByLabel('Terminal').selectOption('Broken till');
  await dialog
    .getByLabel('File', { exact: true })
    .setInputFiles({ name: 'sales.json', mimeType: 'application/json', buffer });
  await dialog.getByRole('button', { name: 'Hand in a file' }).click();
  await dialog.getByText('2 sales were accepted.').waitFor();
  await dialog.getByText('1 of them bounced.').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByLabel('Terminal').selectOption('Broken till');
  await page.getByRole('row', { name: /2\.10.*Succeeded/ }).waitFor();
  await page.getByRole('row', { name: /2\.20.*Bounced/ }).waitFor();
  await page.getByText('The online payment that this sale replaced was paid.').waitFor();
  const intents = await intentsOf(sandbox, terminal);
  assert.equal(intents.find(({ id }) => id === open)?.status, 'canceled');
  const sums = (await paymentsOf(sandbox, terminal)).map(({ amount }) => amount);
  assert.deepEqual(sums.toSorted(), [2_100_000, 2_200_000]);
  await window.closeClean();
});

test('a member who is not an admin reads limits and sales, and cannot change them', async () => {
  const { sandbox, browser, db } = stage();
  const email = 'member@offline.test';
  const accountId = sandbox.account;
  await addMember({ db, clock: systemClock }, { email, accountId, role: 'member' });
  const terminal = await addTestTerminal(sandbox, 'Not mine');
  const { id } = terminal;
  const person = { ...sandbox.dashboard, email, password: PASSWORD };
  const window = await browser.open(DESKTOP);
  const { page } = window;
  await signInAt(window, { sandbox: { ...sandbox, dashboard: person }, path: 'dashboard' });
  await page.getByLabel('Account', { exact: true }).selectOption(accountId);
  await page.goto(`${sandbox.web_url}/dashboard/terminals/${id}`);
  await page.getByText('This till cannot sell without a connection.').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Offline sales/ }).count(), 0);
  await page.goto(`${sandbox.web_url}/dashboard/offline-payments`);
  await page.getByRole('button', { name: 'Export' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Hand in a file' }).count(), 0);
  // The service refuses members as well, so a member cannot bypass the hidden button.
  const sale = await signSale(terminal, { amount: 1_000_000 });
  const member = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  await member.post('/session', { email, password: PASSWORD });
  const path = `/accounts/${accountId}/test/terminals/${id}/offline_payments`;
  const { status, body } = await member.post(path, { payments: [sale] });
  assert.deepEqual([status, body.error?.code], [403, 'role_missing']);
  await window.closeClean();
});

test('a euro shop is offered round limits, and reads what total and margin can cost', async () => {
  const { sandbox } = stage();
  await setShop(sandbox, { currency: 'eur' });
  try {
    const { id } = await addTestTerminal(sandbox, 'Euro stall');
    const window = await openSignedIn(stage(), `dashboard/terminals/${id}`, DESKTOP);
    const { page } = window;
    await page.getByRole('button', { name: /^Offline sales/ }).click();
    const dialog = page.getByRole('dialog');
    const total = fieldOf(page, 'Total');
    await total.waitFor();
    const names = [...Object.keys(LIMITS), 'Margin'];
    const proposed = await Promise.all(names.map((name) => fieldOf(page, name).inputValue()));
    assert.deepEqual(proposed, ['50.00', '100.00', '500.00', '50', '24', '1']);
    await dialog.getByText('you can lose up to €500.00 at this till').waitFor();
    const says = (words: string) => dialog.getByText(`If the euro rises 4 % while ${words}`);
    await says('you are offline, you lose 3 % of these sales.').waitFor();
    await fieldOf(page, 'Margin').fill('4');
    await says('you are offline, you lose nothing of these sales.').waitFor();
    await fieldOf(page, 'Margin').fill('2.5');
    await says('you are offline, you lose 1.5 % of these sales.').waitFor();
    await total.fill('250');
    await dialog.getByText('you can lose up to €250.00 at this till').waitFor();
    await window.checkAccessibility();
    await window.closeClean();
  } finally {
    await setShop(sandbox, { currency: null });
  }
});

test('an admin sets the limits, and sees the possible loss before saving', async () => {
  const { sandbox } = stage();
  const { id } = await addTestTerminal(sandbox, 'Market stall');
  const window = await openSignedIn(stage(), `dashboard/terminals/${id}`);
  const { page } = window;
  const dialog = page.getByRole('dialog');
  await page.getByText('This till cannot sell without a connection.').waitFor();
  await fillIn(page, { Hours: '100', Total: '' });
  await dialog.getByText('up to the amount in Total').waitFor();
  await dialog.getByRole('button', { name: /^Offline sales/ }).click();
  await dialog.getByText('Enter an amount.').waitFor();
  for (const [label, value] of Object.entries(LIMITS)) {
    if (label !== 'Hours') await fieldOf(page, label).fill(value);
  }
  await dialog.getByText('up to 500.00 USDC at this till').waitFor();
  await dialog.getByRole('button', { name: /^Offline sales/ }).click();
  await dialog.getByText('Enter a whole number from 1 to 72.').waitFor();
  await fieldOf(page, 'Hours').fill(LIMITS.Hours);
  // The sandbox's contract allows a change of rates after a minute.
  await dialog.getByText('notice period for fee changes (1 minute)').waitFor();
  await window.checkAccessibility();
  await page.setViewportSize(NARROW.viewport);
  await checkFits(page);
  await page.setViewportSize(DESKTOP.viewport);
  await dialog.getByRole('button', { name: /^Offline sales/ }).click();
  // The demo owner has no second factor yet.
  await setUpFactor(dialog, sandbox.dashboard.password);
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('80.00 USDC').waitFor();

  await fillIn(page, {});
  assert.equal(await fieldOf(page, 'Total').inputValue(), '500.00');
  await dialog.getByRole('button', { name: 'Turn off' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('This till cannot sell without a connection.').waitFor();
  await window.closeClean(/status of 403/);
});
