import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { payAt } from '../testing/desk.ts';
import { addStaff, signInAsStaff } from '../testing/staff.ts';
import { ownStage } from '../testing/stage.ts';

/** Tests the picture of a network over time, in a sandbox whose sales are only in test mode. */

const stage = ownStage();

test('the Overview shows test and live apart, as charts and as a table', async () => {
  const { sandbox, browser, db } = stage();
  const before = await db.query<{ count: number }>('select count(*)::int as count from payments');
  for (const amount of [2_500_000, 1_250_000]) {
    const { payment } = await payAt(sandbox, { terminal: sandbox.test.terminal, amount });
    assert.notEqual(payment, '');
  }
  const payments = (before[0]?.count ?? 0) + 2;
  const window = await browser.open(PHONE);
  const { page } = window;
  const person = await addStaff(db, 'anna@overview.test', 'support');
  await signInAsStaff(window, { sandbox, person, path: 'operator/overview' });
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  const live = page.getByRole('region', { name: 'Live (mainnet)' });
  await live.getByText('No customer tried to pay in the last 24 hours.').waitFor();
  assert.equal(await live.getByRole('figure').count(), 0, 'no axis without a figure');
  const sales = page.getByRole('region', { name: 'Test (testnet)' });
  const factOf = (name: string) =>
    sales.locator('div').filter({ has: page.getByText(name, { exact: true }) });
  await factOf('Payments').getByText(String(payments), { exact: true }).first().waitFor();
  await factOf('Success rate').getByText('100.0 %').first().waitFor();
  assert.equal(await sales.getByRole('figure').count(), 4);
  const table = sales.getByRole('table', { name: 'Test (testnet), by hour' });
  const [, row] = await table.getByRole('row').allInnerTexts();
  assert.match(row ?? '', /USDC[\s\S]*100\.0 %[\s\S]*\d s[\s\S]*\d s[\s\S]*\d{2,3},\d{3}/);
  await window.checkAccessibility();
  await page.getByLabel('Period').selectOption('7 days');
  await sales.getByRole('table', { name: 'Test (testnet), by day' }).waitFor();
  await live.getByText('No customer tried to pay in the last 7 days.').waitFor();
  await window.checkAccessibility();
  await window.closeClean();
});
