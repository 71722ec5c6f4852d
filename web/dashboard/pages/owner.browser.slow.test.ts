import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { present } from '#core/assert.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import {
  addVirtualPasskeys,
  DESKTOP,
  NARROW,
  PHONE,
  type TestWindow,
} from '../../testing/browser.ts';
import { payAt, signInAt } from '../../testing/desk.ts';
import { freePort } from '../../testing/free-port.ts';
import { checkFits } from '../../testing/page-width.ts';
import { checkStill } from '../../testing/payload.ts';
import { openSignedIn, setUpFactor } from '../../testing/signed-in.ts';
import { ownStage } from '../../testing/stage.ts';
import { addTestTerminal, openTill, paymentsOf, postAsMerchant } from '../../testing/till.ts';

/** Tests an owner's tasks in a private sandbox, because a second factor would break other tests. */

const stage = ownStage(undefined, async () => ({ PORT: await freePort() }));

const PDF = Buffer.from('%PDF-1.7\nthe register says so');

const PAGES = [
  ...[
    'Team',
    'Staff',
    'Shifts',
    'Locations',
    'Settings',
    'Verification',
    'Risk rules',
    'Audit log',
    'Balance',
    'Catalogue',
  ],
  'Offline sales',
];
const LOOKS = [
  { name: 'phone, light', options: { ...PHONE, colorScheme: 'light' as const } },
  { name: 'desktop, dark', options: { ...DESKTOP, colorScheme: 'dark' as const } },
  { name: '320 px', options: NARROW },
];

for (const { name, options } of LOOKS) {
  test(`every page of the owner is accessible and fits: ${name}`, async () => {
    const window = await openSignedIn(stage(), 'dashboard', options);
    const { page } = window;
    for (const title of ['Overview', ...PAGES]) {
      await page.getByRole('link', { name: title, exact: true }).first().click();
      await page.getByRole('heading', { name: title, level: 1 }).waitFor();
      await window.idle();
      await window.checkAccessibility();
      await checkFits(page, title);
    }
    await page.goto(`${stage().sandbox.web_url}/dashboard/team`);
    await page.getByRole('heading', { name: 'Team', level: 1 }).waitFor();
    const here = await page.getByRole('link', { name: 'Team', exact: true }).boundingBox();
    const { width } = present(page.viewportSize(), 'a viewport');
    assert.ok(here !== null && here.x >= 0 && here.x + here.width <= width, 'Team is out of view');
    await window.closeClean();
  });
}

test('the links stand in groups, and an address of an earlier release leads on', async () => {
  const window = await openSignedIn(stage(), 'dashboard/catalog');
  const { page } = window;
  await page.waitForURL(/\/dashboard\/catalogue$/);
  const linksOf = (name: string) =>
    page.getByRole('list', { name }).getByRole('link').allInnerTexts();
  const counter = ['Terminals', 'Catalogue', 'Staff', 'Shifts', 'Locations', 'Offline sales'];
  assert.deepEqual(await linksOf('Counter'), counter);
  const developers = ['Intents', 'API keys', 'Webhooks', 'Events', 'Request log'];
  assert.deepEqual(await linksOf('Developers'), developers);
  await window.closeClean();
});

/** Every page, each opened once by its URL. */
const ADDRESSES = [
  ...['', 'payments', 'intents', 'refunds', 'reports', 'balance', 'terminals', 'team', 'staff'],
  ...['shifts', 'locations', 'settings'],
  ...[
    'verification',
    'risk-rules',
    'audit-log',
    'catalogue',
    'api-keys',
    'webhooks',
    'events',
    'request-log',
    'offline-payments',
  ],
];

test('nothing moves while a page of the dashboard loads', async () => {
  const { sandbox } = stage();
  const window = await openSignedIn(stage(), 'dashboard/team');
  const { page } = window;
  for (const address of ADDRESSES) {
    await page.goto(`${sandbox.web_url}/dashboard/${address}`);
    await page.locator('h1').waitFor();
    await window.idle();
    await checkStill(window);
  }
  await window.close();
});

/** Draws a green square, which stands for a shop's logo file. */
const PICTURE = `(async () => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 900, height: 450 });
  const brush = canvas.getContext('2d');
  brush.fillStyle = '#0a7d4c';
  brush.fillRect(0, 0, 900, 450);
  const blob = await new Promise((done) => canvas.toBlob(done, 'image/jpeg'));
  return [...new Uint8Array(await blob.arrayBuffer())];
})()`;
/** Reads the logo and color shown around the name. */
const LOOK = `(() => {
  const shown = document.querySelector('.branded');
  const { backgroundColor, color } = getComputedStyle(shown);
  const { backgroundImage } = getComputedStyle(shown, '::before');
  const file = /brand\\/[0-9a-f]{32}[.]png/.exec(backgroundImage);
  return { backgroundColor, color, hasLogo: file !== null };
})()`;
const CHOSEN = { backgroundColor: 'rgb(240, 224, 112)', color: 'rgb(0, 0, 0)', hasLogo: true };

test('logo and color appear on the till, the pay page and the receipt', async () => {
  const { sandbox, browser } = stage();
  const window = await openSignedIn(stage(), 'dashboard/settings');
  const { page } = window;
  const picture = Buffer.from((await page.evaluate(PICTURE)) as number[]);
  const file = { name: 'sign.jpg', mimeType: 'image/jpeg', buffer: picture };
  await page.getByLabel('Logo', { exact: true }).setInputFiles(file);
  await page.getByRole('button', { name: 'Upload logo' }).click();
  await page.getByRole('button', { name: 'Remove logo' }).waitFor();
  await page.getByLabel('Color behind the name').fill('#f0e070');
  await page.getByRole('button', { name: 'Save color' }).click();
  await page.getByRole('button', { name: 'Remove color' }).waitFor();
  // The preview loads the new style once the settings have been read again.
  await eventually('the preview', async () => isDeepStrictEqual(await page.evaluate(LOOK), CHOSEN));
  await window.checkAccessibility();
  const counter = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal: counter });
  // The till requests logo and color when the shift begins.
  await eventually('logo and color of the till', async () =>
    isDeepStrictEqual(await till.page.evaluate(LOOK), CHOSEN),
  );
  await till.checkAccessibility();
  await till.close();
  await payAt(sandbox, { terminal: counter.id, amount: 2_500_000 });
  const [paid] = await paymentsOf(sandbox, counter);
  const request = { amount: 1_000_000, terminal: counter.id };
  const intent = await postAsMerchant(sandbox, '/payment_intents', request);
  const device = `${sandbox.base_url}/device/v1/payment_intents/${intent.id}`;
  const headers = { Authorization: `Bearer ${counter.deviceKey}` };
  const open = (await (await fetch(device, { headers })).json()) as { payment_url: string };
  for (const url of [paid?.receipt_url, open.payment_url, counter.tagUrl]) {
    await page.goto(String(url));
    await page.locator('h1.branded').waitFor();
    assert.deepEqual(await page.evaluate(LOOK), CHOSEN, String(url));
    await window.checkAccessibility();
    if (url !== paid?.receipt_url) await checkStill(window);
  }
  await window.closeClean();
});

test('a rule shows its effect on last week, and two editors see both values', async () => {
  const { sandbox } = stage();
  const { terminal } = sandbox.test;
  for (let i = 0; i < 3; i++) await payAt(sandbox, { terminal, amount: 1_500_000 });
  const open = async () => {
    const window = await openSignedIn(stage(), 'dashboard/risk-rules');
    return window;
  };
  const [first, second] = [await open(), await open()];
  const often = first.page.getByLabel('Payments per customer per hour');
  await often.fill('many');
  await first.page.getByRole('button', { name: 'Save' }).click();
  await first.page.getByText('Enter a number.').waitFor();
  await often.fill('2');
  await first.page.getByText(/[1-9]\d* would have been stopped/).waitFor();
  await first.checkAccessibility();
  await second.page.getByLabel('Payments per customer per hour').fill('500');
  await second.page.getByText('None of the').waitFor();
  await second.page.getByRole('button', { name: 'Save' }).click();
  await second.page.getByText('Saved.').waitFor();
  await first.page.getByRole('button', { name: 'Save' }).click();
  await first.page.getByText('Someone else changed this since').waitFor();
  await first.page.getByText('Current value: 500').waitFor();
  assert.equal(await often.inputValue(), '2', 'nothing that was typed is lost');
  await often.fill('');
  await first.page.getByRole('button', { name: 'Save' }).click();
  await first.page.getByText('Saved.').waitFor();
  first.checkClean(/status of 409/);
  for (const window of [first, second]) await window.close();
});

test('a colleague is invited, and the invitation is revoked', async () => {
  const window = await openSignedIn(stage(), 'dashboard/team', PHONE);
  const { page } = window;
  await page.getByRole('button', { name: 'Invite' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email').fill('not an address');
  await dialog.getByLabel('Role').selectOption('viewer');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await dialog.locator('.field-error').waitFor();
  await window.checkAccessibility();
  await dialog.getByLabel('Email').fill('nina@demo.test');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  const row = page.getByRole('row', { name: 'nina@demo.test' });
  await row.getByText('viewer').waitFor();
  await row.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await row.waitFor({ state: 'detached' });
  await window.closeClean(/status of 400/);
});

test('the verification form is saved, stays, and names what is missing', async () => {
  const { sandbox } = stage();
  const owner = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  assert.equal((await owner.post('/session', sandbox.dashboard)).status, 200);
  const made = await owner.post('/accounts', { name: 'Second Café' });
  assert.equal(made.status, 201, made.text);
  const window = await openSignedIn(stage(), 'dashboard');
  const { page } = window;
  await page.getByLabel('Account', { exact: true }).selectOption(String(made.body.id));
  await page.getByRole('link', { name: 'Verification', exact: true }).click();
  await page.getByLabel('Legal name').fill('Second Café GmbH');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('This field is required.').waitFor();
  assert.equal(await page.getByLabel('Legal name').inputValue(), 'Second Café GmbH');
  for (const [label, value] of [
    ['Registration number', 'HRB 1'],
    ['Business address', 'Weg 1, 10115 Berlin'],
    ['What you sell', 'Coffee.'],
    ['Authorized signatory', 'Nina New'],
  ] as const) {
    await page.getByLabel(label).fill(value);
  }
  assert.equal(await page.getByText('This field is required.').count(), 0, 'the error has left');
  await page.getByLabel('Country').selectOption('Germany');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  await page.reload();
  await page.getByLabel('Registration number').waitFor();
  assert.equal(await page.getByLabel('Registration number').inputValue(), 'HRB 1');
  assert.equal(await page.getByLabel('Country').locator('option:checked').textContent(), 'Germany');
  const extract = { name: 'extract.pdf', mimeType: 'application/pdf', buffer: PDF };
  await page.getByLabel('File').setInputFiles(extract);
  await page.getByRole('button', { name: 'Upload' }).click();
  await page.getByRole('link', { name: 'extract.pdf' }).waitFor();
  assert.equal(await page.getByLabel('File').inputValue(), '', 'the field is empty again');
  await window.checkAccessibility();
  await window.closeClean();
});

test('a passkey is added, and signs in without a password', async () => {
  const { sandbox, browser } = stage();
  // Passkeys need a host name; a numeric IP address does not work.
  const url = sandbox.web_url.replace('127.0.0.1', 'localhost');
  const window = await browser.open(DESKTOP);
  await addVirtualPasskeys(window);
  const { page } = window;
  await signInAt(window, { sandbox: { ...sandbox, web_url: url }, path: 'dashboard/settings' });
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('My laptop');
  await dialog.getByLabel('Password').fill(sandbox.dashboard.password);
  await window.checkAccessibility();
  await dialog.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('My laptop').first().waitFor();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: /^Use a passkey/ }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.getByRole('button', { name: 'Remove My laptop' }).click();
  await page.getByRole('button', { name: 'Remove My laptop' }).waitFor({ state: 'detached' });
  await window.closeClean();
});

/** Adds a live endpoint in a session that has not proven a second factor. */
async function addLiveEndpoint({ page }: TestWindow, code: string): Promise<void> {
  await page.getByRole('switch', { name: 'Test mode' }).click();
  await page.getByRole('button', { name: 'Add endpoint' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Address' }).fill('https://93.184.216.34/hook');
  await dialog.getByRole('button', { name: 'Add endpoint' }).click();
  await dialog.getByRole('textbox', { name: 'Authentication code' }).fill(code);
  await page.keyboard.press('Enter');
  const secret = await dialog.getByLabel('Signing secret', { exact: true }).inputValue();
  assert.match(secret, /^whsec_/);
}

test('an owner sets up an authenticator app and withdraws; the form keeps its input', async () => {
  const { sandbox } = stage();
  await payAt(sandbox, { terminal: sandbox.test.terminal, amount: 5_000_000 });
  const before = await openSignedIn(stage(), 'dashboard/webhooks');
  const window = await openSignedIn(stage(), 'dashboard/balance');
  const { page } = window;
  await page.getByRole('button', { name: /^Withdraw/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('1.5');
  await dialog.getByRole('button', { name: /^Withdraw 1.50 USDC/ }).click();
  await dialog.getByLabel('Password').waitFor();
  await window.checkAccessibility();
  const codes = await setUpFactor(dialog, sandbox.dashboard.password);
  const [recovery] = /(?:[A-Z2-7]{4}-){5}[A-Z2-7]{3}/.exec(codes) ?? [];
  await dialog.getByText('Your payout is on its way').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByRole('link', { name: /^wdr_/ }).click();
  await page.getByText('1.50').first().waitFor();
  await window.checkAccessibility();
  await window.closeClean(/status of 403/);
  await addLiveEndpoint(before, present(recovery, 'a recovery code'));
  await before.closeClean(/status of 403/);
});
