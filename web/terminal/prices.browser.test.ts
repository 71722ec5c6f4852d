import assert from 'node:assert/strict';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { NARROW, PHONE } from '../testing/browser.ts';
import { signInAt } from '../testing/desk.ts';
import { fits, quotedOf, shows, usdc } from '../testing/priced.ts';
import { ownStage } from '../testing/stage.ts';
import {
  addCatalogueItem,
  addTestTerminal,
  intentsOf,
  newTill,
  openTill,
  paymentsOf,
  setShop,
  signInOwner,
} from '../testing/till.ts';

/** Uses a private sandbox, because the currency applies to the whole account. */
const stage = ownStage(({ sandbox }) => setShop(sandbox, { currency: 'eur' }));

test('an owner sets up prices, a tax rate and items, and the till sells them', async () => {
  const { browser, sandbox } = stage();
  const desk = await browser.open(NARROW);
  const { page } = desk;
  const dialog = page.getByRole('dialog');
  await signInAt(desk, { sandbox, path: 'dashboard/settings' });
  await page.getByLabel('Price currency').selectOption('EUR · Euro');
  await page.getByRole('radio', { name: 'Tax is added to the price' }).check();
  await page.getByRole('button', { name: 'Save prices' }).click();
  await page.getByText('Saved.').waitFor();
  await page.getByText(/^Rate now: €1 = 1\.0854 USDC$/).waitFor();
  await page.getByRole('button', { name: 'Add tax rate' }).click();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Food');
  await dialog.getByRole('textbox', { name: 'Rate' }).fill('7,125');
  await dialog.getByText('Enter a percentage from 0 to 100').waitFor();
  await dialog.getByRole('textbox', { name: 'Rate' }).fill('7,5');
  await dialog.getByText('Read as 7.5 %').waitFor();
  await dialog.getByRole('button', { name: 'Add tax rate' }).click();
  await page.getByRole('row', { name: /Food.*7\.5 %/ }).waitFor();
  await fits(page);
  await desk.checkAccessibility();
  await page.getByRole('link', { name: 'Catalogue', exact: true }).last().click();
  await page.getByRole('heading', { name: 'No items yet' }).waitFor();
  for (const [name, price] of [
    ['Soup', '4,80'],
    ['Tea', '2.5'],
  ] as const) {
    await page.getByRole('button', { name: 'Add item' }).click();
    await dialog.getByRole('textbox', { name: 'Name' }).fill(name);
    await dialog.getByRole('textbox', { name: 'Price' }).fill('1,500');
    await dialog.getByRole('button', { name: 'Add item' }).click();
    await dialog.getByText('Write 1500 or 1.50').waitFor();
    await dialog.getByRole('textbox', { name: 'Price' }).fill(price);
    await dialog.getByRole('button', { name: 'Add item' }).click();
    await page
      .getByRole('listitem')
      .filter({ hasText: name })
      .getByText('plus 7.5 % tax')
      .waitFor();
  }
  const first = page.getByRole('list', { name: 'Catalogue' }).getByRole('listitem').first();
  await page.getByRole('button', { name: 'Move up: Tea' }).press('Enter');
  await first.getByText('Tea').first().waitFor();
  await fits(page);
  await desk.checkAccessibility();
  desk.checkClean();
  await desk.close();
  const { till, terminal } = await newTill(stage(), PHONE);
  await till.page.getByRole('link', { name: /^Catalogue/ }).click();
  await till.page.getByRole('button', { name: /^Soup.*€4\.80/ }).click();
  await till.page.getByRole('button', { name: 'Charge €5.16', exact: true }).click();
  await till.testPass.waitFor();
  const [intent] = await intentsOf(sandbox, terminal);
  const lines = intent?.line_items as readonly Record<string, unknown>[];
  assert.deepEqual(
    lines.map((line) => [line.tax_rate, line.tax_inclusive]),
    [[750, false]],
  );
  await till.cancel.click();
  await till.close();
  await setShop(sandbox, { prices_include_tax: true });
});

test('a till of a shop in euros types, charges and shows euros', async () => {
  const { till, page, terminal } = await newTill(stage(), PHONE);
  await page.getByRole('link', { name: 'Keypad' }).click();
  for (const key of ['2', '.', '5', '0'])
    await page.getByRole('button', { name: key, exact: true }).click();
  await page.getByRole('button', { name: 'Charge €2.50', exact: true }).click();
  await till.testPass.waitFor();
  const [intent] = await intentsOf(stage().sandbox, terminal);
  const quoted = quotedOf(intent);
  assert.deepEqual([quoted.currency, quoted.amount], ['eur', 250]);
  // 2.713556 USDC, and fees of 0.012212 USDC.
  await shows(page, 'Total', '€2.51', '2.73 USDC', 'Service fee', '€0.01');
  await till.checkAccessibility();
  await till.pay();
  await shows(page, 'Total', '€2.51', '2.73 USDC', 'You get', '€2.50', usdc(intent?.amount));
  await till.newPayment.click();
  // The second click of a double click on New payment may land on a link of the keypad.
  const catalogue = page.getByRole('link', { name: /^Catalogue/ });
  const { x, y } = present(await catalogue.boundingBox(), 'link');
  await page.mouse.move(x + 5, y + 5);
  await page.mouse.down({ clickCount: 2 });
  await page.mouse.up({ clickCount: 2 });
  await till.amount.waitFor();
  await catalogue.click();
  await page.getByRole('region', { name: 'Cart' }).waitFor();
  till.checkClean();
  await till.close();
});

test('a typed sum is a line with the shop’s default tax rate, and leaves the cart', async () => {
  const { sandbox } = stage();
  const tax_rates = [{ name: 'Takeaway', rate: 700 }];
  await setShop(sandbox, { tax_rates, default_tax_rate: 'Takeaway', prices_include_tax: false });
  await addCatalogueItem(sandbox, { name: 'Bread', unit_amount: 250, currency: 'eur' });
  const { till, page, terminal } = await newTill(stage(), PHONE);
  await page.getByRole('link', { name: /^Catalogue/ }).click();
  await page.getByRole('button', { name: /^Bread/ }).click();
  await page.goto(`${sandbox.web_url}/terminal`);
  await page.getByRole('region', { name: 'Cart' }).waitFor();
  await till.ask('10.70');
  const [intent] = await intentsOf(sandbox, terminal);
  assert.equal(quotedOf(intent).amount, 1_070);
  const lines = intent?.line_items as readonly Record<string, unknown>[];
  assert.deepEqual(
    lines.map((line) => [line.name, line.quantity, line.unit_amount, line.tax_rate]),
    [['Amount', 1, 1_070, 700]],
  );
  await till.pay();
  const [paid] = await paymentsOf(sandbox, terminal);
  const receipt = await (await fetch(`${paid?.receipt_url}.json`)).json();
  assert.deepEqual((receipt as { taxes: unknown }).taxes, [
    { rate: 700, net: 1_000, tax: 70, gross: 1_070 },
  ]);
  await till.newPayment.click();
  await page.getByRole('link', { name: /^Catalogue/ }).click();
  await page.getByRole('button', { name: 'Charge €2.50', exact: true }).waitFor();
  till.checkClean();
  await till.close();
  await setShop(sandbox, { default_tax_rate: null, prices_include_tax: true });
});

test('the till of an Austrian shop types and shows a decimal comma', async () => {
  const { till, page } = await newTill(stage(), { ...PHONE, locale: 'en-AT' });
  const control = (name: string) => page.locator(`[data-name="${name}"]`);
  await control('Keypad').click();
  await page.getByRole('button', { name: ',', exact: true }).waitFor();
  for (const key of ['2', '.', '5', '0']) await control(key).click();
  assert.equal(await till.amount.inputValue(), '2,50');
  await page.getByRole('button', { name: /^Charge €\s2,50$/ }).waitFor();
  // Quantities also use the decimal comma.
  await addCatalogueItem(stage().sandbox, { name: 'Ham', unit_amount: 1290, currency: 'eur' });
  await control('Catalogue').click();
  await page.getByRole('button', { name: /^Ham/ }).click();
  await page.getByRole('button', { name: 'Edit: Ham' }).click();
  await page.getByRole('textbox', { name: 'Quantity' }).fill('0,35');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText(/^0,35 × €\s12,90$/).waitFor();
  till.checkClean();
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
  const { till, page, terminal } = await newTill(stage(), NARROW);
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
  await dialog.getByRole('textbox', { name: 'Discount' }).fill('4.21');
  await dialog.getByText('The discount can be at most €4.20.').waitFor();
  await dialog.getByRole('textbox', { name: 'Discount' }).fill('0.20');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await cart.getByRole('button', { name: 'Discount' }).click();
  await dialog.getByRole('button', { name: '10 %' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await fits(page);
  await till.checkAccessibility();
  // The cart survives a reload.
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
  await till.pay();
  await till.newPayment.click();
  await cart.getByText('Tap an item to add it.').waitFor();
  till.checkClean();
  await till.close();
});

test('discounts stay percentages, and options change an item’s price and name', async () => {
  const { sandbox } = stage();
  const discounts = [
    { name: 'Regulars', rate: 1_000 },
    { name: 'Voucher', amount: 500 },
  ];
  await setShop(sandbox, { discounts });
  const item = { tax_rate: 700, tax_inclusive: true, currency: 'eur' };
  await addCatalogueItem(sandbox, { name: 'Lunch', unit_amount: 1_910, ...item });
  const options = [
    { name: 'oat', unit_amount: 50 },
    { name: 'to go', unit_amount: 0 },
  ];
  await addCatalogueItem(sandbox, { name: 'Latte', unit_amount: 500, options, ...item });
  const { till, page, terminal } = await newTill(stage(), PHONE);
  await page.getByRole('link', { name: /^Catalogue/ }).click();
  const cart = page.getByRole('region', { name: 'Cart' });
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: /^Lunch/ }).click();
  await cart.getByRole('button', { name: 'Discount' }).click();
  await dialog.getByRole('button', { name: 'Regulars' }).click();
  await dialog.getByText('Read as €1.91').waitFor();
  await fits(page);
  await till.checkAccessibility();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Charge €17.19', exact: true }).waitFor();
  await page.getByRole('button', { name: /^Latte/ }).click();
  await dialog.getByRole('checkbox', { name: /^oat/ }).check();
  await fits(page);
  await till.checkAccessibility();
  await dialog.getByRole('button', { name: 'Add €5.50' }).click();
  // 10 % of 24.60, not 1.91.
  await page.getByRole('button', { name: 'Charge €22.14', exact: true }).waitFor();
  await cart.getByRole('button', { name: 'Edit: Latte, oat' }).click();
  await dialog.getByRole('textbox', { name: 'Discount' }).fill('١٢ ٪');
  await dialog.getByText('Read as €0.66').waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await fits(page);
  await page.getByRole('button', { name: 'Charge €21.55', exact: true }).click();
  await till.testPass.waitFor();
  const [intent] = await intentsOf(sandbox, terminal);
  const { discount, discount_rate, discount_name } = intent ?? {};
  assert.deepEqual([discount, discount_rate, discount_name], [239, 1_000, 'Regulars']);
  const lines = intent?.line_items as readonly Record<string, unknown>[];
  assert.deepEqual(
    lines.map((line) => [line.name, line.discount, line.discount_rate, typeof line.item]),
    [
      ['Lunch', 0, null, 'string'],
      ['Latte, oat', 66, 1_200, 'string'],
    ],
  );
  await till.cancel.click();
  await till.newPayment.click();
  await cart.getByText('Regulars').waitFor();
  await cart.getByRole('button', { name: 'Discount' }).click();
  await dialog.getByRole('button', { name: 'Voucher' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Charge €18.94', exact: true }).waitFor();
  till.checkClean();
  await till.close();
});

test('a till at a location charges in the location’s currency', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const owner = await signInOwner(sandbox);
  const organization = String((await owner.post('/organizations', { name: 'Cafés' })).body.id);
  const account = `/accounts/${sandbox.account}`;
  await owner.send('PUT', `${account}/organization`, { organization });
  const location = { account: sandbox.account, name: 'Tokyo', currency: 'jpy' };
  const made = await owner.post(`/organizations/${organization}/locations`, location);
  assert.equal(made.status, 201, made.text);
  const terminals = `${account}/test/terminals/${terminal.id}`;
  const { version } = (await owner.get(terminals)).body;
  const moved = await owner.patch(terminals, { version, location: made.body.id });
  assert.equal(moved.status, 200, moved.text);
  const till = await openTill(browser, sandbox, { terminal });
  await till.amount.fill('250');
  await till.page.getByRole('button', { name: 'Charge ¥250', exact: true }).click();
  await till.pay();
  const [sold] = await paymentsOf(sandbox, terminal);
  assert.equal(quotedOf(sold).currency, 'jpy');
  assert.equal(sold?.location, made.body.id);
  till.checkClean();
  await till.close();
});
