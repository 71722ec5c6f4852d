import { test } from 'node:test';
import { DESKTOP, PHONE } from '../testing/browser.ts';
import { signInAsStaff } from '../testing/staff.ts';
import { ownStage } from '../testing/stage.ts';

/** Tests that an operator caps and forbids offline sales of a network, in a private sandbox. */

const stage = ownStage();

test('an operator caps and forbids offline sales, with a reason', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open(PHONE);
  await signInAsStaff(window, { sandbox, path: 'operator/settings' });
  const { page } = window;
  const dialog = page.getByRole('dialog');
  const card = page
    .locator('section')
    .filter({ has: page.getByRole('heading', { name: 'testnet' }) });
  const rule = card.filter({ hasText: 'Highest sum of a sale' });
  const open = () => page.getByRole('button', { name: 'Change offline sales of testnet' }).click();
  const send = dialog.getByRole('button', { name: 'Change offline sales' });
  await rule.getByText('As each merchant sets it').waitFor();
  await open();
  await dialog.getByRole('textbox', { name: 'Highest sum of a sale' }).fill('a lot');
  await dialog.getByRole('alert').waitFor();
  await dialog.getByRole('textbox', { name: 'Highest sum of a sale' }).fill('20');
  await send.click();
  await dialog.getByText('Enter a reason.').waitFor();
  await window.checkAccessibility();
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Bounces on Friday.');
  await send.click();
  await dialog.waitFor({ state: 'hidden' });
  await rule.getByText('20.00').waitFor();
  await page.setViewportSize(DESKTOP.viewport);
  await open();
  await dialog.getByRole('checkbox', { name: 'Tills may sell offline' }).uncheck();
  await dialog.getByRole('textbox', { name: 'Highest sum of a sale' }).fill('');
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Until the fraud is understood.');
  await send.click();
  await rule.getByText('Forbidden').waitFor();
  await rule.getByText('As each merchant sets it').waitFor();
  await page.goto(`${sandbox.web_url}/operator/audit-log`);
  await page.getByText('Until the fraud is understood.').first().waitFor();
  await window.closeClean();
});
