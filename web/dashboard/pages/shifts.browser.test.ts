import { test } from 'node:test';
import { caller } from '#testkit/apis/api-client.ts';
import { NARROW } from '../../testing/browser.ts';
import { payAt, signInAt } from '../../testing/desk.ts';
import { checkFits } from '../../testing/page-width.ts';
import { sharedStage } from '../../testing/stage.ts';
import { addTestTerminal } from '../../testing/till.ts';

const stage = sharedStage();

test('the reports of shifts are listed, and one is read, at 320 px', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox, 'Counter with reports');
  const till = caller(`${sandbox.base_url}/device/v1`, terminal.deviceKey);
  await till.post('/shift', {});
  await payAt(sandbox, { terminal: terminal.id, amount: 4_350_000 });
  await till.send('DELETE', '/shift');
  const window = await browser.open(NARROW);
  const { page } = window;
  await signInAt(window, { sandbox, path: `dashboard/shifts?terminal=${terminal.id}` });
  await page.getByRole('heading', { name: 'Shifts', level: 1 }).waitFor();
  await page.getByText('4.35 USDC').first().waitFor();
  await window.checkAccessibility();
  await checkFits(page, 'Shifts');
  await page.getByRole('link', { name: 'Shift report 1' }).click();
  await page.getByRole('heading', { name: 'Shift report 1', level: 1 }).waitFor();
  await page.getByText('Cash is not counted.').waitFor();
  await window.checkAccessibility();
  await checkFits(page, 'Shift report 1');
  await page.goBack();
  await page.getByRole('heading', { name: 'Shifts', level: 1 }).waitFor();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('textbox', { name: 'Send shift reports to' }).waitFor();
  await window.closeClean();
});
