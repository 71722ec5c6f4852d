import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { present } from '#core/assert.ts';
import { sharedStage } from '../testing/stage.ts';
import { newTill, paymentsOf, postAsMerchant } from '../testing/till.ts';

const stage = sharedStage();

const TABLET = { viewport: { width: 1180, height: 820 } };

async function boxOf(element: Locator) {
  return present(await element.boundingBox(), 'box');
}

test('on a tablet the left side is for the cashier, the right one for the customer', async () => {
  const { till, page } = await newTill(stage(), TABLET);
  const key = await boxOf(page.getByRole('button', { name: '5', exact: true }));
  assert.ok(key.height >= 88, 'keys that a thumb hits');
  const charge = await boxOf(till.charge);
  assert.ok(charge.x + charge.width <= 590 && charge.y + charge.height <= 820, 'all at once');
  await till.ask('2.50');
  const code = await boxOf(page.getByRole('img', { name: 'Pay with any wallet' }));
  assert.equal(code.width, 320);
  assert.ok(code.x >= 590 && code.y + code.height <= 820, 'the whole code is on the right');
  await till.checkAccessibility();
  await till.pay();
  const paid = await boxOf(till.result('Paid'));
  assert.ok(paid.x >= 590 && paid.height >= 600, 'the result has the customer’s whole side');
  const again = await boxOf(till.newPayment);
  assert.ok(again.x + again.width <= 590 && again.height < 100);
  await till.checkAccessibility();
  for (const viewport of [
    { width: 844, height: 390 },
    { width: 820, height: 1180 },
    { width: 700, height: 600 },
  ]) {
    await page.setViewportSize(viewport);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} pixels too wide for ${viewport.width}`);
  }
  till.checkClean();
  await till.close();
});

test('a customer types a tip; for a small sum round amounts are offered, too', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage(), TABLET);
  const tipping = { percentages: [10, 15] };
  const sale = { amount: 2_500_000, terminal: terminal.id, tipping };
  await postAsMerchant(sandbox, '/payment_intents', sale);
  await page.getByRole('radio', { name: '0.50 USDC' }).check();
  const own = page.getByRole('textbox', { name: 'Custom tip' });
  await own.fill('2.51');
  const add = page.getByRole('button', { name: /^Add tip/ });
  assert.equal(await add.isDisabled(), true, 'a tip is at most the sale');
  await own.fill('0.7');
  assert.equal(await page.getByRole('radio', { name: '0.50 USDC' }).isChecked(), false);
  await till.checkAccessibility();
  await add.click();
  await till.pay();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.deepEqual([payment?.amount, payment?.tip], [3_200_000, 700_000]);
  await till.newPayment.click();
  await postAsMerchant(sandbox, '/payment_intents', { ...sale, amount: 12_000_000 });
  await page.getByRole('radio', { name: /^15 %/ }).waitFor();
  assert.equal(await page.getByRole('radio').count(), 2, 'percentages are enough');
  await till.close();
});
