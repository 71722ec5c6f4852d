import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import { newTill } from '../testing/till.ts';

const stage = sharedStage();

async function endShift(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Totals' }).click();
  await page.getByRole('button', { name: 'End shift' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End shift' }).click();
}

const reportOf = (page: Page, number: number) =>
  page.getByRole('heading', { name: `Shift report ${number}`, exact: true });

test('the end of a shift shows its numbered report, and earlier ones print again', async () => {
  const { till, page } = await newTill(stage(), PHONE);
  await till.sell('4.20');
  await till.newPayment.click();
  await endShift(page);
  await reportOf(page, 1).waitFor();
  await page.getByText('Cash is not counted.').waitFor();
  assert.equal(await page.getByText('4.20 USDC').first().isVisible(), true);
  await till.checkAccessibility();
  await page.reload();
  await reportOf(page, 1).waitFor();
  await page.getByRole('button', { name: /^Start shift/ }).click();
  await endShift(page);
  await reportOf(page, 2).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  assert.equal(await reportOf(page, 2).count(), 0);
  await page.getByRole('button', { name: /^Start shift/ }).click();
  await page.getByRole('link', { name: 'Totals' }).click();
  await page.getByRole('button', { name: 'Earlier shifts' }).click();
  await page.getByRole('heading', { name: 'Earlier shifts' }).waitFor();
  for (const number of [1, 2]) await reportOf(page, number).waitFor();
  await till.checkAccessibility();
  await page.evaluate(() => {
    window.print = () => document.body.setAttribute('data-printed', '');
  });
  await page.getByRole('button', { name: 'Print' }).last().click();
  await page.locator('body[data-printed]').waitFor();
  await page.emulateMedia({ media: 'print' });
  assert.equal(await reportOf(page, 1).isVisible(), true);
  assert.equal(await reportOf(page, 2).isVisible(), false);
  assert.equal(await page.getByText('Copy', { exact: true }).last().isVisible(), true);
  await till.close();
});

test('without a connection a shift ends later, and the till goes on selling', async () => {
  const { till, page } = await newTill(stage(), PHONE);
  await till.sell('1.10');
  await till.newPayment.click();
  await page.getByRole('link', { name: 'Totals' }).click();
  await page.getByText('1.10 USDC').first().waitFor();
  await page.context().setOffline(true);
  await page
    .getByRole('status')
    .filter({ hasText: /^Offline/ })
    .waitFor();
  await page.getByRole('button', { name: 'End shift' }).click();
  await page.getByRole('dialog').getByText('There is no connection.').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'End shift' }).click();
  await till.amount.waitFor();
  await page.context().setOffline(false);
  await reportOf(page, 1).waitFor();
  assert.equal(await page.getByText('1.10 USDC').first().isVisible(), true);
  await page.getByRole('button', { name: /^Start shift/ }).waitFor();
  await till.close();
});
