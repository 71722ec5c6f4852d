import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { systemClock } from '#core/clock.ts';
import { addMember, PASSWORD } from '#testkit/apis/people.ts';
import { DESKTOP, PHONE } from '../../testing/browser.ts';
import { payAt, signInAt, textOf } from '../../testing/desk.ts';
import { checkFits } from '../../testing/page-width.ts';
import { ownStage } from '../../testing/stage.ts';
import { addTestTerminal } from '../../testing/till.ts';

const stage = ownStage();

const LONG_NAME = 'Verwaltungsgesellschaft für Bäckereifachgeschäfte in Süddeutschland';

/** Clicks a button that opens a dialog, fills the dialog in, chooses from lists and sends it. */
async function fillIn(
  page: Page,
  button: string,
  fields: Readonly<Record<string, string>>,
  chosen: Readonly<Record<string, string>> = {},
): Promise<void> {
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: button }).first().click();
  for (const [label, value] of Object.entries(fields)) await dialog.getByLabel(label).fill(value);
  for (const [label, value] of Object.entries(chosen)) {
    await dialog.getByLabel(label).selectOption(value);
  }
  await dialog.getByRole('button', { name: button }).click();
  await dialog.waitFor({ state: 'hidden' });
}

async function checkNarrow(page: Page): Promise<void> {
  await page.setViewportSize(PHONE.viewport);
  await checkFits(page);
  await page.setViewportSize(DESKTOP.viewport);
}

test('an owner creates an organization, and sees what a location sells', async () => {
  const { sandbox, browser } = stage();
  const { id: terminal } = await addTestTerminal(sandbox, 'Quay');
  const window = await browser.open(DESKTOP);
  const { page } = window;
  const dialog = page.getByRole('dialog');
  const pageOf = (path: string) => page.goto(`${sandbox.web_url}/dashboard/${path}`);
  await signInAt(window, { sandbox, path: 'dashboard/locations' });
  await fillIn(page, 'Create organization', { Name: LONG_NAME });
  await page.getByText(LONG_NAME).first().waitFor();
  await page.getByText('No locations yet').waitFor();
  await page.getByText('No sales on this day.').waitFor();
  const zone = { 'Time zone': 'Pacific/Auckland' };
  await fillIn(page, 'Add location', { Name: 'Harbor', Address: '1 Quay' }, zone);
  await page.getByRole('cell', { name: '1 Quay' }).waitFor();
  await page.getByRole('cell', { name: 'Pacific/Auckland' }).waitFor();
  await fillIn(page, 'Add person', { Email: 'ana@example.com' });
  await page.getByRole('cell', { name: 'ana@example.com' }).waitFor();

  await pageOf(`terminals/${terminal}`);
  await page.getByText('No location').waitFor();
  await page.getByRole('button', { name: 'Move terminal' }).click();
  await dialog.getByLabel('Location').selectOption('Harbor');
  await dialog.getByRole('button', { name: 'Move terminal' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await page.getByText('Harbor').waitFor();
  const { payment } = await payAt(sandbox, { terminal, amount: 7_250_000 });

  await pageOf('locations');
  await page.getByRole('row', { name: /^Harbor 1 7\.25/ }).waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download payments' }).click();
  assert.ok((await textOf(await saved)).includes(payment), 'the file has the sale');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await checkNarrow(page);
  await window.checkAccessibility();
  await window.closeClean();
});

test('an admin without a role in the organization sees no people or locations of it', async () => {
  const { sandbox, browser, db } = stage();
  const email = 'admin@organization.test';
  const accountId = sandbox.account;
  await addMember({ db, clock: systemClock }, { email, accountId, role: 'admin' });
  const person = { ...sandbox.dashboard, email, password: PASSWORD };
  const window = await browser.open(DESKTOP);
  const { page } = window;
  await signInAt(window, { sandbox: { ...sandbox, dashboard: person }, path: 'dashboard' });
  await page.getByLabel('Account', { exact: true }).selectOption(accountId);
  await page.goto(`${sandbox.web_url}/dashboard/locations`);
  await page.getByText('Ask one of its owners to invite you.').waitFor();
  assert.equal(await page.getByText(LONG_NAME).count(), 0);
  await page.goto(`${sandbox.web_url}/dashboard/terminals/${sandbox.test.terminal}`);
  await page.getByRole('button', { name: 'Turn off' }).waitFor();
  await window.idle();
  assert.equal(await page.getByRole('button', { name: 'Move terminal' }).count(), 0);
  await window.closeClean();
});
