import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { DESKTOP, looksToRun, NARROW, PHONE, type TestWindow } from '../testing/browser.ts';
import { signInAt } from '../testing/desk.ts';
import { checkStill, measureFirstLoad } from '../testing/payload.ts';
import { openSignedIn, setUpFactor } from '../testing/signed-in.ts';
import { ownStage } from '../testing/stage.ts';

/**
 * Tests the operator's staff at work, in a private sandbox because the test sets up a second
 * factor.
 */

/** The limit is 130 kB (behavior.md 21.6). */
const BUDGET_BYTES = 130_000;

const PAGES = [
  ...['Verification', 'Accounts', 'Payers', 'Relayers', 'Queues', 'Reconciliation', 'Alarms'],
  ...['Audit log', 'Settings', 'Support', 'Action required'],
];

const LOOKS = [
  { name: 'phone, light', viewport: PHONE.viewport, colorScheme: 'light' },
  { name: 'desktop, dark', viewport: DESKTOP.viewport, colorScheme: 'dark' },
] as const;

/** Only the width is checked here: colors and structure are the same as on a phone. */
const WIDTHS = [{ width: 720, height: 900 }, NARROW.viewport] as const;

const DETAILS = {
  legal_name: 'Waiting Café GmbH',
  registration_number: 'HRB 12345',
  country: 'DE',
  address: 'Hauptstraße 1, 10115 Berlin',
  business: 'Coffee and cake.',
  representative: 'Nina New',
};

/** A picture of one pixel. */
const PICTURE = Buffer.from(
  [
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ',
    'AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  ].join(''),
  'base64',
);

let window: TestWindow;
let merchant: PersonClient;
let account = '';

const stage = ownStage(async ({ browser }) => {
  window = await browser.open();
});

/** Submits a business's verification with a document. */
async function handIn(): Promise<void> {
  const { sandbox } = stage();
  merchant = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  assert.equal((await merchant.post('/session', sandbox.dashboard)).status, 200);
  const opened = await merchant.post('/accounts', { name: 'Waiting Café' });
  assert.equal(opened.status, 201, opened.text);
  account = String(opened.body.id);
  const path = `/accounts/${account}/kyb`;
  const saved = await merchant.send('PUT', path, { version: 0, details: DETAILS });
  assert.equal(saved.status, 200, saved.text);
  const query = 'kind=registration&file_name=extract.png';
  const added = await merchant.send('POST', `${path}/documents?${query}`, PICTURE, {
    'Content-Type': 'image/png',
  });
  assert.equal(added.status, 201, added.text);
  const handed = await merchant.post(`${path}/submit`);
  assert.equal(handed.body.status, 'pending', handed.text);
}

async function goTo(title: string): Promise<void> {
  const { page } = window;
  await page.getByRole('navigation').getByRole('link', { name: title, exact: true }).click();
  await page.getByRole('heading', { name: title, level: 1 }).waitFor();
}

test('staff without a second factor see no more than names, and set one up in place', async () => {
  const { sandbox } = stage();
  const { page } = window;
  const other = await openSignedIn(stage(), 'operator');
  await signInAt(window, { sandbox, path: 'operator' });
  await goTo('Alarms');
  await page.getByRole('heading', { name: 'Set up a second factor first' }).waitFor();
  await window.checkAccessibility();
  await setUpFactor(page.locator('body'), sandbox.operator.password);
  await page.getByText('No open alarms').waitFor();
  // The other session began before the factor was set up, so it has not proven the factor.
  await other.page.reload();
  await other.page.getByRole('textbox', { name: 'Authentication code' }).waitFor();
  await other.checkAccessibility();
  await other.closeClean();
});

/** Opens every page once by its URL. */
const ADDRESSES = [
  ...['', 'verification', 'accounts', 'payers', 'relayers', 'queues', 'reconciliation', 'alarms'],
  ...['contract', 'audit-log', 'settings', 'support'],
];

test('nothing moves while a page of the console loads', async () => {
  const { page } = window;
  for (const address of ADDRESSES) {
    await page.goto(`${stage().sandbox.web_url}/operator/${address}`);
    await page.locator('h1').waitFor();
    await window.idle();
    await checkStill(window);
  }
});

test('an operator finds a waiting business, views its documents and approves it', async () => {
  await handIn();
  const { page } = window;
  await goTo('Action required');
  await page.getByRole('link', { name: /^Verify the business/ }).click();
  const legalName = page.getByText(DETAILS.legal_name);
  await legalName.waitFor();
  assert.equal(await legalName.getAttribute('translate'), 'no', 'a browser translates a name');
  const picture = page.getByRole('img', { name: /extract.png/ });
  // The image element exists before its data has loaded.
  const width = await picture.evaluate(async (image: HTMLImageElement) => {
    await image.decode();
    return image.naturalWidth;
  });
  assert.equal(width, 1, 'the paper is shown, not only named');
  await window.checkAccessibility();
  await page.getByRole('button', { name: /^Reject/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Reject/ }).click();
  await dialog.getByText('Enter a reason.').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: /^Approve/ }).click();
  await window.checkAccessibility();
  await dialog.getByRole('button', { name: /^Approve/ }).click();
  await page.getByText('Approved', { exact: true }).waitFor();
  const kyb = await merchant.get(`/accounts/${account}/kyb`);
  assert.equal(kyb.body.status, 'approved', kyb.text);
  await goTo('Verification');
  await page.getByText('No business is waiting').waitFor();
});

test('an account is found and disabled, and its audit log shows the reason', async () => {
  const { page } = window;
  await goTo('Accounts');
  await page.getByLabel('Find').fill('waiting');
  await page.keyboard.press('Enter');
  await page.waitForURL(/text=waiting/);
  await page.getByRole('link', { name: account }).click();
  await page.getByRole('heading', { name: 'Waiting Café', level: 1 }).waitFor();
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: /^Disable/ }).click();
  await dialog.getByLabel('Reason').fill('It sells something else.');
  await page.keyboard.press('Enter');
  await page.getByText('It sells something else.').waitFor();
  await window.checkAccessibility();
  assert.equal((await merchant.get(`/accounts/${account}`)).body.status, 'disabled');
  await page.getByRole('button', { name: /^Enable/ }).click();
  await dialog.getByLabel('Reason').fill('It was a mistake.');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: /^Disable/ }).waitFor();
  await page.getByRole('link', { name: 'Its audit log' }).click();
  await page.getByRole('heading', { name: 'Audit log', level: 1 }).waitFor();
  await page.getByText('account.disabled').first().waitFor();
  await page.getByRole('button', { name: 'Verify this log' }).click();
  await page.getByText('No entry was changed or removed').waitFor();
  await window.checkAccessibility();
});

async function checkWidth(what: string): Promise<void> {
  const wide = await window.page.evaluate(async () => {
    // Two frames later, components that follow the window's size have rendered.
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    const { scrollWidth, clientWidth } = document.documentElement;
    return scrollWidth - clientWidth;
  });
  assert.equal(wide, 0, `${what} scrolls sideways`);
}

for (const { name, viewport, colorScheme } of looksToRun(LOOKS)) {
  test(`every page is accessible and fits: ${name}`, async () => {
    const { page } = window;
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    for (const title of PAGES) {
      await goTo(title);
      await window.idle();
      await window.checkAccessibility();
      await checkWidth(title);
      if (name !== 'phone, light') continue;
      for (const size of WIDTHS) {
        await page.setViewportSize(size);
        await checkWidth(`${title} at ${size.width} px`);
      }
      await page.setViewportSize(viewport);
    }
    await goTo('Relayers');
    await page.getByRole('table', { name: 'Senders on testnet' }).waitFor();
    await goTo('Reconciliation');
    await page.getByText('No difference').waitFor();
  });
}

test('the first load stays within its budget, and the console was clean', async () => {
  const { sandbox } = stage();
  const size = await measureFirstLoad(window, `${sandbox.web_url}/operator`);
  assert.ok(size > 10_000, 'something was measured');
  assert.ok(size <= BUDGET_BYTES, `${size} bytes`);
  window.checkClean();
});
