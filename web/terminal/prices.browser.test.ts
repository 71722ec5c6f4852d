import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { present } from '#core/assert.ts';
import { NARROW, PHONE } from '../testing/browser.ts';
import { signInAt } from '../testing/desk.ts';
import { ownStage } from '../testing/stage.ts';
import {
  addCatalogueItem,
  addTestTerminal,
  intentsOf,
  openDisplay,
  openTill,
  paymentsOf,
  postAsMerchant,
  setShop,
  type TestTerminal,
  type TillWindow,
} from '../testing/till.ts';

/** Of its own: the currency is the whole account's. */
const stage = ownStage(({ sandbox }) => setShop(sandbox, { currency: 'eur' }));

/** What the screen says that a sum of atoms is. */
function usdc(atoms: unknown): string {
  return `${(Number(atoms) / 1e6).toFixed(2)} USDC`;
}

interface Quoted {
  readonly currency: string;
  readonly amount: number;
  readonly tip_amount?: number;
}

function quotedOf(object: Readonly<Record<string, unknown>> | undefined): Quoted {
  return present(object?.presentment as Quoted | null, 'presentment');
}

async function shows(page: Page, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await page.getByText(text, { exact: true }).first().waitFor();
}

/** Whether nothing scrolls sideways. */
async function fits(page: Page): Promise<void> {
  const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  assert.ok(Number(wide) <= 0, `${wide} px too wide`);
}

async function newTill(options = PHONE): Promise<{ till: TillWindow; terminal: TestTerminal }> {
  const terminal = await addTestTerminal(stage().sandbox);
  const till = await openTill(stage().browser, stage().sandbox, { terminal, options });
  return { till, terminal };
}

test('a till of a shop in euros types, charges, shows and refunds euros', async () => {
  const { till, terminal } = await newTill();
  const { page } = till;
  for (const key of ['2', '.', '5', '0'])
    await page.getByRole('button', { name: key, exact: true }).click();
  await page.getByRole('button', { name: 'Charge €2.50', exact: true }).click();
  await till.testPass.waitFor();
  const [intent] = await intentsOf(stage().sandbox, terminal);
  const quoted = quotedOf(intent);
  assert.deepEqual([quoted.currency, quoted.amount], ['eur', 250]);
  await shows(page, '€2.50', usdc(intent?.amount));
  await till.checkAccessibility();
  await till.testPass.selectOption('ok');
  await till.result('Paid').waitFor();
  await shows(page, '€2.50', usdc(intent?.amount));
  await till.newPayment.click();
  await page.getByRole('button', { name: 'Last payment' }).click();
  await page.getByRole('button', { name: /^Refund/ }).click();
  const dialog = page.getByRole('dialog');
  const amount = dialog.getByRole('textbox', { name: 'Amount' });
  assert.equal(await amount.inputValue(), '2.50');
  await amount.fill('2.505');
  await dialog
    .getByText('At most 2 decimals.')
    .or(dialog.getByText(/^Write 2505/))
    .waitFor();
  await amount.fill('1.00');
  await dialog.getByRole('button', { name: 'Refund €1.00', exact: true }).click();
  await page.getByText('Refunded', { exact: true }).first().waitFor();
  const [payment] = await paymentsOf(stage().sandbox, terminal);
  const expected = Math.floor((Number(intent?.amount) * 100) / 250);
  assert.equal(payment?.amount_refunded, expected);
  await shows(page, '€1.00', usdc(expected));
  // The rest, whatever was given back before.
  await page.getByRole('button', { name: /^Refund/ }).click();
  await dialog.getByRole('button', { name: 'Refund €1.50', exact: true }).click();
  await page.getByText('Refunded', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: /^Refund/ }).waitFor({ state: 'detached' });
  const [whole] = await paymentsOf(stage().sandbox, terminal);
  assert.equal(whole?.amount_refunded, whole?.amount);
  await page
    .getByRole('link', { name: 'Shift totals' })
    .or(page.getByRole('link', { name: 'Totals' }))
    .click();
  await shows(page, 'Priced in EUR', '€2.50');
  await till.checkAccessibility();
  till.checkClean();
  await till.close();
});

test('a tip is in the currency of its sale; the customer’s display shows both sums', async () => {
  const { sandbox } = stage();
  const { till, terminal } = await newTill();
  const { page } = till;
  const display = await openDisplay(till);
  await page.getByRole('link', { name: 'Till' }).click();
  await postAsMerchant(sandbox, '/payment_intents', {
    presentment: { currency: 'eur', amount: 2_000 },
    terminal: terminal.id,
    tipping: { percentages: [10, 15] },
  });
  await display.getByRole('radio', { name: /^15 %.*€3\.00/ }).check();
  await display.getByRole('button', { name: /^Add tip.*€23\.00/ }).click();
  await display.getByText('with your tip').waitFor();
  const [intent] = await intentsOf(sandbox, terminal);
  await shows(display, '€23.00');
  await till.testPass.selectOption('ok');
  await till.result('Paid').waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  const paid = quotedOf(payment);
  assert.deepEqual([paid.amount, paid.tip_amount], [2_000, 300]);
  await shows(display, '€23.00', usdc(payment?.amount));
  assert.ok(Number(payment?.amount) > Number(intent?.amount));
  await till.close();
});

test('yen have no decimals, dinars have three, and a split bill keeps its currency', async () => {
  const { sandbox } = stage();
  const { till, terminal } = await newTill(NARROW);
  const { page } = till;
  await setShop(sandbox, { currency: 'jpy' });
  await page.reload();
  await page.getByRole('button', { name: '7', exact: true }).waitFor();
  await till.amount.fill('1.000');
  await page.getByRole('button', { name: 'Charge ¥1,000', exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: '.', exact: true }).count(), 0);
  await till.amount.fill('2.50');
  await page.getByText('This currency has no decimals.').waitFor();
  await till.amount.fill('1000');
  await page.getByRole('button', { name: 'Split the bill' }).click();
  await page
    .getByRole('combobox', { name: 'People' })
    .selectOption('3')
    .catch(() => {});
  await page.getByRole('button', { name: /^Equal parts/ }).click();
  await page.getByRole('button', { name: /^Charge ¥/ }).waitFor();
  await fits(page);
  await till.charge.click();
  await till.testPass.selectOption('ok');
  await till.result('Paid').waitFor();
  await till.newPayment.click();
  // The rest of the bill stays in yen, whatever the shop prices in by then.
  await setShop(sandbox, { currency: 'kwd' });
  await page.reload();
  await page.getByRole('button', { name: /^Charge ¥/ }).waitFor();
  await page.getByRole('button', { name: /^End/ }).click();
  await till.amount.fill('1.250');
  await page.getByRole('button', { name: /^Charge KWD\s1\.250$/ }).click();
  await till.testPass.waitFor();
  assert.equal(quotedOf((await intentsOf(sandbox, terminal))[0]).amount, 1_250);
  await fits(page);
  await till.cancel.click();
  await setShop(sandbox, { currency: 'eur' });
  await till.close();
});

test('pay page and dashboard show both sums of a sale', async () => {
  const { sandbox, browser } = stage();
  const { till, terminal } = await newTill();
  await till.ask('12.34');
  const [open] = await intentsOf(sandbox, terminal);
  const device = await fetch(`${sandbox.base_url}/device/v1/payment_intents/${open?.id}`, {
    headers: { Authorization: `Bearer ${terminal.deviceKey}` },
  });
  const { payment_url: url } = (await device.json()) as { payment_url: string };
  const pay = await browser.open(PHONE);
  await pay.page.goto(url);
  await shows(pay.page, '€12.34');
  await pay.page.getByText(`${Number(open?.amount) / 1e6} USDC`).waitFor();
  await fits(pay.page);
  await pay.checkAccessibility();
  await pay.close();
  await till.testPass.selectOption('ok');
  await till.result('Paid').waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  const desk = await browser.open();
  await signInAt(desk, { sandbox, path: `dashboard/payments/${payment?.id}` });
  const { page } = desk;
  await shows(page, '€12.34', `${Number(payment?.amount) / 1e6} USDC`);
  await page.getByText('1 EUR = ').waitFor();
  await page.getByRole('button', { name: /^Refund/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('2.34');
  await dialog.getByRole('button', { name: 'Refund €2.34', exact: true }).click();
  await dialog.getByText('Refunded', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  for (const path of ['payments', 'refunds', 'intents', '']) {
    await page.goto(`${sandbox.web_url}/dashboard/${path}`);
    await page
      .getByText(path === 'refunds' ? '€2.34' : '€12.34')
      .first()
      .waitFor();
    await desk.checkAccessibility();
  }
  await page.getByText(/^At 1 EUR = /).waitFor();
  await desk.close();
  await till.close();
});

test('items of the catalogue fill a cart, which is charged with its lines', async () => {
  const { sandbox } = stage();
  const tax = { tax_rate: 700, tax_inclusive: true, currency: 'eur' };
  await addCatalogueItem(sandbox, {
    name: 'Flat white',
    unit_amount: 350,
    color: '#a05a2c',
    ...tax,
  });
  await addCatalogueItem(sandbox, { name: 'Cheesecake', unit_amount: 420, ...tax });
  await addCatalogueItem(sandbox, { name: 'Old price', unit_amount: 1_000_000, currency: null });
  const { till, terminal } = await newTill(NARROW);
  const { page } = till;
  await page.getByRole('link', { name: /^Catalogue/ }).click();
  const cart = page.getByRole('region', { name: 'Cart' });
  await cart.getByText('Tap an item to add it.').waitFor();
  await page.getByRole('button', { name: /^Flat white/ }).click();
  await page.getByRole('button', { name: /^Flat white/ }).click();
  await page.getByRole('button', { name: /^Cheesecake/ }).click();
  assert.equal(await page.getByRole('button', { name: /^Old price/ }).count(), 0);
  await page.getByRole('button', { name: 'Charge €11.20', exact: true }).waitFor();
  await cart.getByRole('button', { name: 'Edit: Cheesecake' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Discount' }).fill('0.20');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await cart.getByRole('button', { name: 'Discount' }).click();
  await dialog.getByRole('button', { name: '10 %' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await fits(page);
  await till.checkAccessibility();
  // What is in the cart outlives a reload.
  await page.reload();
  await page.getByRole('button', { name: 'Charge €9.90', exact: true }).click();
  await till.testPass.waitFor();
  const [intent] = await intentsOf(sandbox, terminal);
  assert.equal(quotedOf(intent).amount, 990);
  assert.equal(intent?.discount, 110);
  const lines = intent?.line_items as readonly Record<string, unknown>[];
  assert.deepEqual(
    lines.map(({ name, quantity, discount }) => [name, quantity, discount]),
    [
      ['Flat white', 2, 0],
      ['Cheesecake', '1', 20],
    ],
  );
  await till.testPass.selectOption('ok');
  await till.result('Paid').waitFor();
  await till.newPayment.click();
  await cart.getByText('Tap an item to add it.').waitFor();
  till.checkClean();
  await till.close();
});
