import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NARROW } from '../../testing/browser.ts';
import { payAt, signInAt } from '../../testing/desk.ts';
import { checkFits } from '../../testing/page-width.ts';
import { sharedStage } from '../../testing/stage.ts';
import { addTestTerminal } from '../../testing/till.ts';

const stage = sharedStage();

/** The longest time between the end of a sale and its place in the report. */
const LIVE_MS = 2_000;

test('Reports shows what was sold, by day and by till, and as a file, at 320 px', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox, 'Counter of reports');
  await payAt(sandbox, { terminal: terminal.id, amount: 4_350_000 });
  const window = await browser.open(NARROW);
  const { page } = window;
  await signInAt(window, { sandbox, path: 'dashboard/reports' });
  await page.getByRole('heading', { name: 'Reports', level: 1 }).waitFor();
  await page
    .getByText(/payments?, with tips$/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Last 7 days', pressed: true }).waitFor();
  await window.checkAccessibility();
  await checkFits(page, 'Reports');
  await page.getByLabel('Group by').selectOption('terminal');
  const row = page.getByRole('row').filter({ hasText: 'Counter of reports' });
  await row.getByText('4.35 USDC').first().waitFor();
  await checkFits(page, 'Reports by terminal');
  await payAt(sandbox, { terminal: terminal.id, amount: 1_000_000 });
  // The report follows each sale within two seconds (decisions 28).
  await row.getByText('5.35 USDC').first().waitFor({ timeout: LIVE_MS });
  const link = page.getByRole('link', { name: 'Download CSV' });
  const file = await page.request.get((await link.getAttribute('href')) ?? '');
  assert.match(await file.text(), /"Counter of reports","usdc",2,"0",5350000,/);
  await page.setViewportSize({ width: 1280, height: 800 });
  await checkFits(page, 'Reports on a desktop');
  await page.getByLabel('To', { exact: true }).fill('2020-01-02');
  await page.getByLabel('From').fill('2020-01-01');
  await page.getByText('Nothing was sold or refunded on these days.').waitFor();
  await window.closeClean();
});
