import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { PHONE } from '../testing/browser.ts';
import { checkFits } from '../testing/page-width.ts';
import { ownStage } from '../testing/stage.ts';
import {
  addCatalogueItem,
  addTestTerminal,
  intentsOf,
  newTill,
  paymentsOf,
  setShop,
} from '../testing/till.ts';

const CAFE = [
  { name: 'Flat white', unit_amount: 380 },
  { name: 'Espresso', unit_amount: 240 },
  { name: 'Cheesecake', unit_amount: 490 },
];

const stage = ownStage(async ({ sandbox }) => {
  await setShop(sandbox, { currency: 'eur' });
  for (const item of CAFE)
    await addCatalogueItem(sandbox, {
      ...{ tax_rate: 700, tax_inclusive: true, currency: 'eur' },
      ...item,
    });
});

function partsOf(page: Page) {
  const cart = page.getByRole('region', { name: 'Cart' });
  const dialog = page.getByRole('dialog');
  return {
    cart,
    dialog,
    add: (name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) }).click(),
    click: (name: RegExp) => page.getByRole('button', { name }).click(),
    lines: () => cart.locator('.cart-name').allTextContents(),
  };
}

test('held carts survive reloads and pairing, are sealed, and are each charged once', async () => {
  const { sandbox } = stage();
  const { till, page, terminal } = await newTill(stage(), PHONE);
  const { cart, dialog, add, click, lines } = partsOf(page);
  const hold = async (name: string) => {
    await click(/^Hold/);
    await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
    await till.checkAccessibility();
    await dialog.getByRole('button', { name: /^Hold/ }).click();
    await cart.getByText('Tap an item to add it.').waitFor();
  };
  await add('Flat white');
  await hold('Table 4');
  await add('Espresso');
  await hold('');
  const stored = await page.evaluate(() => localStorage['tapline.terminal.till.3']);
  assert.doesNotMatch(stored, /Table 4|Espresso/);
  await page.reload();
  await add('Cheesecake');
  await click(/^Hold/);
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Table 4');
  await dialog.getByRole('alert').getByText('has this name already').waitFor();
  assert.equal(await dialog.getByRole('button', { name: /^Hold/ }).isEnabled(), false);
  await page.keyboard.press('Escape');
  // A cart in progress is held in exchange for the one that is taken back.
  await click(/^Held carts/);
  await till.checkAccessibility();
  await dialog.getByRole('button', { name: /^Table 4/ }).click();
  await cart.getByText('1 × €3.80').waitFor();
  assert.deepEqual(await lines(), ['Flat white']);
  await checkFits(page, 'the cart');
  await till.charge.click();
  await till.pay();
  await page.reload();
  await till.newPayment.click();
  const other = await addTestTerminal(sandbox);
  await page.goto(`${sandbox.web_url}/terminal#key=${other.deviceKey}`);
  await page.reload();
  await page.getByRole('button', { name: /^Pair/ }).click();
  await click(/^Held carts/);
  const names = await dialog.locator('.button bdi').allTextContents();
  assert.deepEqual(names, ['1', '2']);
  await dialog.getByRole('button', { name: /^2/ }).click();
  await cart.getByText('1 × €4.90').waitFor();
  await page.reload();
  await cart.getByText('1 × €4.90').waitFor();
  assert.deepEqual(await lines(), ['Cheesecake']);
  await page.getByRole('link', { name: 'Totals' }).click();
  await click(/^End shift/);
  await dialog.getByText('Carts that stay held at this till: 1').waitFor();
  const paid = await intentsOf(sandbox, terminal);
  assert.deepEqual(
    paid.map(({ line_items }) => (line_items as { name: string }[]).map(({ name }) => name)),
    [['Flat white']],
  );
  till.checkClean();
  await till.close();
});

test('a part of a cart is charged first, and the rest comes back once that is paid', async () => {
  const { sandbox } = stage();
  const { till, page, terminal } = await newTill(stage(), PHONE);
  const { cart, dialog, add, click, lines } = partsOf(page);
  for (const name of ['Flat white', 'Flat white', 'Espresso']) await add(name);
  const split = async () => {
    await click(/^Split/);
    await dialog.getByText('By items').waitFor();
    assert.equal(await dialog.getByRole('button', { name: /^Split/ }).isEnabled(), false);
    await dialog.getByRole('button', { name: 'Add one: Flat white' }).click();
    await dialog.getByRole('button', { name: 'Add one: Espresso' }).click();
    await dialog.getByRole('button', { name: 'Take one: Espresso' }).click();
    await till.checkAccessibility();
    await dialog.getByRole('button', { name: 'Split off €3.80' }).click();
    await cart.getByText('1 × €3.80').waitFor();
    assert.deepEqual(await lines(), ['Flat white']);
  };
  await split();
  await click(/^Put back/);
  await cart.getByText('2 × €3.80').waitFor();
  assert.deepEqual((await lines()).toSorted(), ['Espresso', 'Flat white']);
  await split();
  await checkFits(page, 'the cart');
  await till.charge.click();
  await till.cancel.click();
  await till.result('Canceled').waitFor();
  await page.reload();
  await till.newPayment.click();
  assert.deepEqual(await lines(), ['Flat white']);
  await page.getByRole('button', { name: 'Charge €3.80', exact: true }).click();
  await till.pay();
  await page.reload();
  await till.newPayment.click();
  await cart.getByText('1 × €2.40').waitFor();
  await page.getByRole('button', { name: 'Charge €6.20', exact: true }).click();
  await till.pay();
  await till.newPayment.click();
  await cart.getByText('Tap an item to add it.').waitFor();
  const paid = await paymentsOf(sandbox, terminal);
  assert.deepEqual(
    paid.map(({ presentment }) => (presentment as { amount: number }).amount),
    [620, 380],
  );
  till.checkClean();
  await till.close();
});

test('the rest of a cart takes the place of a part whose last line is taken away', async () => {
  const { till, page } = await newTill(stage());
  const { cart, dialog, add, click, lines } = partsOf(page);
  for (const name of ['Flat white', 'Espresso']) await add(name);
  await click(/^Split/);
  await dialog.getByRole('button', { name: 'Add one: Espresso' }).click();
  await dialog.getByRole('button', { name: /^Split/ }).click();
  await cart.getByRole('button', { name: 'Take one: Espresso' }).click();
  await cart.getByText('1 × €3.80').waitFor();
  assert.deepEqual(await lines(), ['Flat white']);
  assert.equal(await cart.getByRole('button', { name: /^Put back/ }).count(), 0);
  till.checkClean();
  await till.close();
});
