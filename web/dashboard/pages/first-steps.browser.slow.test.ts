import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type MailServer, startMailServer } from '#testkit/network/mail-server.ts';
import { DESKTOP, PHONE, type TestWindow } from '../../testing/browser.ts';
import { payAt, textOf } from '../../testing/desk.ts';
import { freePort } from '../../testing/free-port.ts';
import { mailedLink } from '../../testing/mail.ts';
import { openSignedIn } from '../../testing/signed-in.ts';
import { ownStage } from '../../testing/stage.ts';
import { tillOf } from '../../testing/till.ts';

/** Follows a user without programming experience from an empty account to a test payment. */

const PASSWORD = 'a long shop passphrase';

let mail: MailServer;

const stage = ownStage(undefined, async () => {
  mail = await startMailServer();
  return { PORT: await freePort(), SMTP_URL: mail.url };
});

after(() => mail.stop());

async function openAccount(window: TestWindow, email: string): Promise<void> {
  const { page } = window;
  await page.goto(`${stage().sandbox.web_url}/dashboard`);
  await page.getByRole('link', { name: 'Open an account' }).click();
  await page.getByLabel('Email').fill(email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Check your email').waitFor();
  await page.goto(await mailedLink(mail, email, 'dashboard/sign-up'));
  await page.getByLabel('Your name').fill('Nina New');
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Open account' }).click();
  await page.locator('.field').filter({ hasText: 'Enter the name of the business.' }).waitFor();
  await page.getByLabel('Business name').fill('New Café');
  await page.getByRole('button', { name: 'Open account' }).click();
  await page.locator('.field').filter({ hasText: '12 to 256 characters' }).waitFor();
  await window.checkAccessibility();
  assert.equal(await page.getByLabel('Your name').inputValue(), 'Nina New');
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Open account' }).click();
}

async function waitForStep({ page }: TestWindow, name: string, state: 'Done' | 'To do') {
  const line = page.getByRole('listitem').filter({ hasText: name });
  await line.getByText(state, { exact: true }).waitFor();
}

async function goToOverview({ page }: TestWindow): Promise<void> {
  await page.getByRole('link', { name: 'Overview', exact: true }).first().click();
  await page.getByRole('heading', { name: 'Your first payment, without code' }).waitFor();
}

/** Goes live in test mode with one click; the sandbox creates the wallet and a first till. */
async function goLive(window: TestWindow): Promise<void> {
  await window.page.getByRole('button', { name: 'Go live' }).click();
  // Registration on chain takes a few seconds; the page polls it.
  await waitForStep(window, 'Sales can settle in test mode', 'Done');
}

async function chargeAtTill(window: TestWindow) {
  const { page } = window;
  await page.getByRole('button', { name: 'New code' }).click();
  const opened = window.context.waitForEvent('page');
  await page.getByRole('link', { name: 'Open the till here' }).click();
  const till = tillOf({ ...window, page: await opened });
  await till.page.getByRole('button', { name: /^Start shift/ }).click();
  await till.ask('2.50');
  return till;
}

for (const { name, options } of [
  { name: 'desktop, the customer played here', options: DESKTOP },
  { name: 'phone, the customer played at the till', options: PHONE },
]) {
  test(`a stranger opens an account and takes a test payment: ${name}`, async () => {
    const window = await stage().browser.open(options);
    const { page } = window;
    const isPhone = options === PHONE;
    await openAccount(window, isPhone ? 'phone@shop.test' : 'desk@shop.test');
    await page.getByRole('heading', { name: 'Your first payment, without code' }).waitFor();
    await waitForStep(window, 'Sales can settle in test mode', 'To do');
    await waitForStep(window, 'The payment', 'To do');
    await window.checkAccessibility();
    await goLive(window);
    await waitForStep(window, 'A till', 'Done');
    await waitForStep(window, 'A device for it', 'To do');
    const till = await chargeAtTill(window);
    if (isPhone) {
      await till.testPass.selectOption('ok');
      await till.result('Paid').waitFor();
    } else {
      await page.getByRole('link', { name: 'tap as the customer from here' }).click();
      await page.getByRole('button', { name: 'Test tap' }).click();
      await page.getByRole('status').getByRole('link', { name: /^pay_/ }).waitFor();
    }
    await goToOverview(window);
    await page.getByText('Your first test payment has arrived').waitFor();
    for (const step of ['A till', 'A device for it', 'A sale', 'The payment']) {
      await waitForStep(window, step, 'Done');
    }
    await window.checkAccessibility();
    await page.getByRole('status').getByRole('link', { name: /^pay_/ }).click();
    await page.getByRole('heading', { name: 'Payment', level: 1 }).waitFor();
    await page.getByText('2.50').first().waitFor();
    await window.closeClean(/status of 40[03]/);
  });
}

/** Splits a CSV file into header and rows of cells, without the quotes. */
function cellsOf(csv: string): string[][] {
  const lines = csv
    .replace(/^\uFEFF/, '')
    .trim()
    .split(/\r?\n/);
  return lines.map((line) => line.split(',').map((cell) => cell.replaceAll('"', '')));
}

test('an accountant is invited, joins, and downloads the month as CSV', async () => {
  const { sandbox, browser } = stage();
  const email = 'rita@tax.test';
  const sale = await payAt(sandbox, { terminal: sandbox.test.terminal, amount: 12_340_000 });
  const owner = await openSignedIn(stage(), 'dashboard/team');
  await owner.page.getByRole('button', { name: 'Invite' }).click();
  const dialog = owner.page.getByRole('dialog');
  await dialog.getByLabel('Email').fill(email);
  await dialog.getByLabel('Role').selectOption('viewer');
  await dialog.getByRole('button', { name: 'Invite' }).click();

  const window = await browser.open(DESKTOP);
  const { page } = window;
  await page.goto(await mailedLink(mail, email, 'dashboard/invitation'));
  await page.getByLabel('Your name').fill('Rita Ledger');
  await page.getByLabel('Password').fill(PASSWORD);
  await window.checkAccessibility();
  await page.getByRole('button', { name: /^Join/ }).click();
  await page.getByRole('link', { name: 'Payments', exact: true }).first().click();
  await page.getByRole('button', { name: 'This month' }).click();
  await page.getByRole('link', { name: sale.payment }).waitFor();
  await page.getByRole('button', { name: 'Export' }).click();
  const coming = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: 'Download' }).click();
  const [header = [], ...rows] = cellsOf(await textOf(await coming));
  const row = rows.find((cells) => cells.includes(sale.payment));
  assert.ok(row !== undefined, 'the sale is in the file');
  assert.equal(row[header.indexOf('amount')], '12.34', header.join());
  assert.equal(row.length, header.length);

  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
  await page.getByRole('link', { name: sale.payment }).click();
  await page.getByText('Customer tapped').waitFor();
  assert.equal(await page.getByRole('button', { name: /^Refund/ }).count(), 0, 'who looks, looks');
  await owner.page.reload();
  await owner.page.getByRole('row', { name: email }).getByText('viewer').waitFor();
  window.checkClean();
  for (const one of [window, owner]) await one.close();
});
