import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedStage } from '../testing/stage.ts';
import { newTill, openDisplay, paymentsOf, postAsMerchant } from '../testing/till.ts';

const stage = sharedStage();

test('a second window shows the customer the state of the sale, and asks for nothing', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  const display = await openDisplay(till);
  const requests: string[] = [];
  display.on('request', (request) => {
    if (request.url().includes('/api/')) requests.push(request.url());
  });
  await display.getByText('Welcome').waitFor();
  await page.getByRole('link', { name: 'Keypad' }).click();
  await till.ask('2.50');
  await display.getByRole('img', { name: 'Pay with any wallet' }).waitFor();
  await display.getByText('Service fee').waitFor();
  // After a reload, the display receives the till's state again.
  await display.reload();
  await display.getByRole('img', { name: 'Pay with any wallet' }).waitFor();
  await till.testPass.selectOption('insufficient_funds');
  await display.getByRole('alert').getByText('Declined').waitFor();
  await till.testPass.selectOption('ok');
  await display.getByRole('status').getByText('Paid').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  const asks = display.locator('button:not(.amount-rounded), input, select');
  assert.equal(await asks.count(), 0, 'only sums can be clicked');
  await till.newPayment.click();
  await display.getByText('Welcome').waitFor();
  assert.deepEqual(requests, []);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('switch', { name: 'Customer display' }).click();
  await display.getByText('Waiting for the till.').waitFor();
  await till.checkAccessibility();
  till.checkClean();
  await till.close();
});

test('the customer chooses the tip in the customer window, and the till continues', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  const display = await openDisplay(till);
  await page.getByRole('link', { name: 'Keypad' }).click();
  const sale = { amount: 20_000_000, terminal: terminal.id, tipping: { percentages: [10, 15] } };
  await postAsMerchant(sandbox, '/payment_intents', sale);
  await display.getByRole('radio', { name: /^15 %/ }).check();
  await till.checkAccessibility();
  await display.getByRole('button', { name: /^Add tip/ }).click();
  await display.getByText('with your tip').waitFor();
  await till.testPass.selectOption('ok');
  await display.getByRole('status').getByText('Paid').waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.deepEqual([payment?.amount, payment?.tip], [23_000_000, 3_000_000]);
  await till.close();
});
