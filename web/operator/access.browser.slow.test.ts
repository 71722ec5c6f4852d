import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { addFactorNow } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { type MailServer, startMailServer } from '#testkit/network/mail-server.ts';
import { DESKTOP, PHONE } from '../testing/browser.ts';
import { freePort } from '../testing/free-port.ts';
import { mailedLink } from '../testing/mail.ts';
import { addStaff, signInAsStaff } from '../testing/staff.ts';
import { ownStage } from '../testing/stage.ts';

/** Tests how staff regain access, and the pages of read-only staff, in a private sandbox. */

const NEW_PASSWORD = 'another long passphrase';

/**
 * Buttons that support staff may use: for their own access, and for actions that change nothing.
 */
const MAY_CLICK = [
  ...['Verify this log', 'Menu'],
  ...['Sign out', 'Change my name', 'Change my password', 'Delete my account', 'Remove the app'],
  ...['New recovery codes', 'End all sessions', 'Set up an app', 'Add a passkey'],
  'Download my data',
];

const PAGES = [
  ...[
    'support',
    'verification',
    'accounts',
    'payers',
    'relayers',
    'queues',
    'reconciliation',
    'alarms',
  ],
  ...['contract', 'audit-log', 'settings'],
];

let mail: MailServer;

const stage = ownStage(undefined, async () => {
  mail = await startMailServer();
  return { PORT: await freePort(), SMTP_URL: mail.url };
});

after(() => mail.stop());

test('an emailed link sets a new password; the second factor stays', async () => {
  const { sandbox, browser, db } = stage();
  const { email, password } = await addStaff(db, 'nina@access.test');
  const before = new PersonClient(`${sandbox.base_url}/operator/v1`);
  assert.equal((await before.post('/session', { email, password })).status, 200);
  await addFactorNow(before, password);
  const window = await browser.open(PHONE);
  const { page } = window;
  await page.goto(`${sandbox.web_url}/operator`);
  await page.getByRole('link', { name: /password/i }).click();
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Enter your email address.').waitFor();
  await page.getByLabel('Email').fill(email);
  await window.checkAccessibility();
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Check your email').waitFor();
  await page.goto(await mailedLink(mail, email, 'operator/reset-password'));
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.field').filter({ hasText: '12 to 256 characters' }).waitFor();
  await window.checkAccessibility();
  await page.getByLabel('Password').fill(NEW_PASSWORD);
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your password has changed').waitFor();
  assert.equal((await before.get('/session')).status, 401, 'they are signed out everywhere');
  await page.getByRole('link', { name: 'Back to sign-in' }).click();
  await page.getByRole('textbox', { name: 'Email' }).fill(email);
  await page.getByLabel('Password').fill(password);
  await page.keyboard.press('Enter');
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Password').fill(NEW_PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('textbox', { name: 'Authentication code' }).waitFor();
  await window.closeClean(/status of 40[01]/);
});

for (const { name, options, pages } of [
  { name: 'desktop', options: DESKTOP, pages: PAGES },
  { name: 'phone', options: PHONE, pages: ['payers', 'contract', 'settings'] },
]) {
  test(`support staff see the pages and no button that changes something: ${name}`, async () => {
    const { sandbox, browser, db } = stage();
    await addStaff(db, `other-${name}@access.test`);
    const person = await addStaff(db, `sue-${name}@access.test`, 'support');
    const window = await browser.open(options);
    const { page } = window;
    await signInAsStaff(window, { sandbox, person });
    await page.getByText('Read-only access: you can see everything and change nothing.').waitFor();
    for (const path of ['', ...pages, `accounts/${sandbox.account}`]) {
      await page.goto(`${sandbox.web_url}/operator/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await window.idle();
      const buttons = await page.getByRole('button').all();
      const names = await Promise.all(
        buttons.map(
          async (button) => (await button.textContent())?.trim() || button.getAttribute('title'),
        ),
      );
      const more = names.filter((text) => text !== null && !MAY_CLICK.includes(text));
      assert.deepEqual(more, [], path);
    }
    await window.checkAccessibility();
    await window.closeClean();
  });
}
