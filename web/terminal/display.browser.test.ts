import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, openTill, paymentsOf } from '../testing/till.ts';

const stage = sharedStage();

test('a second window shows the customer what the till does, and asks for nothing', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal });
  const { page, context } = till;
  await page.getByRole('link', { name: 'Settings' }).click();
  const opened = context.waitForEvent('page');
  await page.getByRole('switch', { name: 'Customer display' }).click();
  const display = await opened;
  const asked: string[] = [];
  display.on('request', (request) => {
    if (request.url().includes('/api/')) asked.push(request.url());
  });
  await display.getByText('Welcome').waitFor();
  await page.getByRole('link', { name: 'Till' }).click();
  await till.ask('2.50');
  await display.getByRole('img', { name: 'Pay with any wallet' }).waitFor();
  await display.getByText('2.50 USDC').waitFor();
  // A reload finds out where the till is.
  await display.reload();
  await display.getByRole('img', { name: 'Pay with any wallet' }).waitFor();
  await till.testPass.selectOption('insufficient_funds');
  await display.getByRole('alert').getByText('Declined').waitFor();
  await till.testPass.selectOption('ok');
  await display.getByRole('status').getByText('Paid').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  assert.equal(await display.getByRole('button').count(), 0, 'nothing can be pressed');
  await till.newPayment.click();
  await display.getByText('Welcome').waitFor();
  assert.deepEqual(asked, []);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('switch', { name: 'Customer display' }).click();
  await display.getByText('Waiting for the till.').waitFor();
  await till.checkAccessibility();
  till.checkClean();
  await till.close();
});
