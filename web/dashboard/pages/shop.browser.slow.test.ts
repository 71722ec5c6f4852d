import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { present } from '#core/assert.ts';
import { waitUntil } from '#sandbox/find-and-stop-processes.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import type { TestWindow } from '../../testing/browser.ts';
import { openSignedIn } from '../../testing/signed-in.ts';
import { ownStage } from '../../testing/stage.ts';
import { addCatalogueItem, setShop } from '../../testing/till.ts';

/** Tests details of the shop's settings and catalog; `prices.browser.test.ts` sells with them. */

/** The time within which a form's values must be stored. */
const SAVED_MS = 20_000;
const NAMES = ['Apple', 'Bread', 'Cake', 'Dates'];

const stage = ownStage(async ({ sandbox }) => {
  await setShop(sandbox, { currency: 'eur', tax_rates: [{ name: 'Food', rate: 700 }] });
  for (const name of NAMES) await addCatalogueItem(sandbox, { name, unit_amount: 100 });
});

async function open(path: string): Promise<TestWindow> {
  const window = await openSignedIn(stage(), `dashboard/${path}`);
  await window.page.getByRole('heading', { level: 1 }).waitFor();
  return window;
}

interface Item {
  readonly id: string;
  readonly name: string;
  readonly unit_amount: number;
  readonly currency: string | null;
  readonly version: number;
}

/** Opens the session of a colleague, who changes things while the page is open. */
async function colleague() {
  const { sandbox } = stage();
  const person = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  await person.post('/session', sandbox.dashboard);
  const account = `/accounts/${sandbox.account}`;
  const catalogue = `${account}/test/catalogue`;
  const items = async () => (await person.get(catalogue)).body.data as readonly Item[];
  const item = async (name: string) =>
    present(
      (await items()).find((one) => one.name === name),
      name,
    );
  return { person, account, catalogue, items, item };
}

function shownNames(page: Page): Promise<string[]> {
  return page.locator('.catalog-name').allTextContents();
}

function field(dialog: Locator, name: string): Locator {
  return dialog.getByRole('textbox', { name });
}

test('an item is moved by keyboard, and the button keeps the focus', async () => {
  const { items } = await colleague();
  const window = await open('catalog');
  const { page } = window;
  const down = page.getByRole('button', { name: 'Move down: Apple' });
  await down.focus();
  for (let click = 0; click < 3; click++) await page.keyboard.press('Enter');
  await page.getByText('Apple: 4 of 4').waitFor({ state: 'attached' });
  assert.deepEqual(await shownNames(page), ['Bread', 'Cake', 'Dates', 'Apple']);
  assert.deepEqual(
    (await items()).map(({ name }) => name),
    ['Bread', 'Cake', 'Dates', 'Apple'],
  );
  const hasFocus = await down.evaluate((button) => document.activeElement === button);
  assert.ok(hasFocus, 'the focus has gone');
  // At the end of the list, the button does nothing.
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Edit Apple' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Position in the list').selectOption('First');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.waitForFunction(
    () => document.querySelector('.catalog-name')?.textContent === 'Apple',
  );
  assert.deepEqual(await shownNames(page), NAMES);
  await window.closeClean();
});

test('a colleague’s concurrent change is shown before it is overwritten', async () => {
  const { person, catalogue, item } = await colleague();
  const window = await open('catalog');
  const { page } = window;
  await page.getByRole('button', { name: 'Edit Cake' }).click();
  const dialog = page.getByRole('dialog');
  await field(dialog, 'Price').fill('3.20');
  const cake = await item('Cake');
  const changed = { version: cake.version, name: 'Cheesecake', unit_amount: 350 };
  await person.patch(`${catalogue}/${cake.id}`, changed);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Someone else changed this since you opened it').waitFor();
  await dialog.getByText('Current value: Cheesecake').waitFor();
  await dialog.getByText('Current value: 3.50').waitFor();
  assert.equal((await item('Cheesecake')).unit_amount, 350, 'nothing was replaced yet');
  await window.checkAccessibility();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal((await item('Cake')).unit_amount, 320);
  await page.getByRole('button', { name: 'Edit Dates' }).click();
  await dialog.getByRole('button', { name: 'Delete item' }).click();
  await dialog.getByText('Tills stop selling it').waitFor();
  await dialog.getByRole('button', { name: 'Delete item' }).click();
  await page.getByText('Dates was deleted.').waitFor();
  assert.deepEqual(await shownNames(page), ['Apple', 'Bread', 'Cake']);
  await window.closeClean(/status of 409/);
});

test('an item can have a tax rate that the shop does not list, and a color', async () => {
  const { item } = await colleague();
  const window = await open('catalog');
  const { page } = window;
  await page.getByRole('button', { name: 'Edit Bread' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Tax rate').selectOption('Another rate');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Enter a percentage from 0 to 100').waitFor();
  await field(dialog, 'Percentage').fill('5.25');
  await dialog.getByRole('checkbox', { name: 'The price includes tax' }).uncheck();
  await dialog.getByRole('radio', { name: 'Green' }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByText('plus 5.25 % tax').waitFor();
  const { tax_rate, tax_inclusive, color } = (await item('Bread')) as Item &
    Record<string, unknown>;
  assert.deepEqual([tax_rate, tax_inclusive, color], [525, false, '#2e8b57']);
  await window.closeClean();
});

test('prices have the decimals of their currency; items in another one are counted', async () => {
  const { sandbox } = stage();
  const { item } = await colleague();
  await setShop(sandbox, { currency: 'jpy' });
  const window = await open('catalog');
  const { page } = window;
  await page.getByText('3 items have prices in another currency.').waitFor();
  const dialog = page.getByRole('dialog');
  const edit = async (currency: string, typed: string) => {
    await page.getByRole('button', { name: 'Edit Apple' }).click();
    await dialog.getByText(new RegExp(`^In ${currency}\\.`)).waitFor();
    assert.equal(await field(dialog, 'Price').inputValue(), '', 'the old price is no new one');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByText('Enter a price.').waitFor();
    await field(dialog, 'Price').fill('2.5000');
    await dialog.getByRole('alert').waitFor();
    await field(dialog, 'Price').fill(typed);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { unit_amount, currency: stored } = await item('Apple');
    return [unit_amount, stored];
  };
  assert.deepEqual(await edit('JPY', '1,500'), [1_500, 'jpy']);
  await page.getByText('¥1,500').waitFor();
  await setShop(sandbox, { currency: 'kwd' });
  await page.reload();
  assert.deepEqual(await edit('KWD', '1.250'), [1_250, 'kwd']);
  await page.getByText('KWD').last().waitFor();
  await window.closeClean();
  await setShop(sandbox, { currency: 'eur' });
});

test('each form on the settings page saves only its own fields', async () => {
  const { person, account } = await colleague();
  const window = await open('settings');
  const { page } = window;
  await field(page.locator('main'), 'Legal name').fill('Café Azul, Lda.');
  await page.getByRole('button', { name: 'Add tax rate' }).click();
  const dialog = page.getByRole('dialog');
  await field(dialog, 'Name').fill('Food');
  await field(dialog, 'Rate').fill('0');
  await dialog.getByRole('button', { name: 'Add tax rate' }).click();
  await dialog.getByText('Another rate already has this name.').waitFor();
  await field(dialog, 'Name').fill('Zero');
  await dialog.getByRole('button', { name: 'Add tax rate' }).click();
  await page.getByRole('button', { name: 'Remove Food' }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('row', { name: /Food/ }).waitFor({ state: 'detached' });
  assert.equal(await page.getByText('Someone else changed this').count(), 0);
  await page.getByRole('button', { name: 'Save receipt details' }).click();
  // The message of an earlier form is still shown, so wait for the stored value.
  const stored = async () => (await person.get(account)).body;
  assert.ok(
    await waitUntil(async () => (await stored()).legal_name === 'Café Azul, Lda.', SAVED_MS),
  );
  const { version } = await stored();
  assert.equal((await person.patch(account, { version, tax_number: 'PT1' })).status, 200);
  await field(page.locator('main'), 'Tax number').fill('PT2');
  await page.getByRole('button', { name: 'Save receipt details' }).click();
  await page.getByText('Current value: PT1').waitFor();
  await page.getByRole('button', { name: 'Save receipt details' }).click();
  await page.getByText('Current value: PT1').waitFor({ state: 'detached' });
  await field(page.locator('main'), 'Fiscal signer').fill('https://10.0.0.1/');
  await page.getByRole('button', { name: 'Save receipt details' }).click();
  await page.locator('.field-error').waitFor();
  const { legal_name, tax_number, tax_rates, fiscal_signer } = (await person.get(account)).body;
  assert.deepEqual(
    [legal_name, tax_number, tax_rates, fiscal_signer],
    ['Café Azul, Lda.', 'PT2', [{ name: 'Zero', rate: 0 }], null],
  );
  await window.closeClean(/status of 40/);
});

test('for a currency without a rate, the page says that tills cannot charge in it', async () => {
  const { sandbox } = stage();
  await setShop(sandbox, { currency: 'xof' });
  const window = await open('settings');
  const { page } = window;
  await page.getByText('There is no rate for XOF right now').waitFor();
  await page.getByLabel('Price currency').selectOption('EUR · Euro');
  await page.getByRole('button', { name: 'Save prices' }).click();
  await page.getByText(/^Rate now: €1 = /).waitFor();
  assert.equal(await page.getByText('There is no rate').count(), 0);
  await window.closeClean();
});

test('a file of items is previewed, mended and imported, and options are edited', async () => {
  const { items } = await colleague();
  const count = (await items()).length;
  const window = await open('catalog');
  const { page } = window;
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  const choose = (csv: string) =>
    dialog.getByLabel('CSV file').setInputFiles({
      name: 'items.csv',
      mimeType: 'application/vnd.ms-excel',
      buffer: Buffer.from(csv),
    });
  await choose('Name;Price;Barcode\nApple;1,20;111\nFig;1.500;222');
  await dialog.getByText('1 row has a problem.').waitFor();
  await dialog.getByRole('row', { name: /3.*Fig.*not 1\.500/ }).waitFor();
  await window.checkAccessibility();
  assert.equal((await items()).length, count);
  await choose('Name;Price;Barcode\nApple;1,20;111\nFig;1,50;222');
  await dialog.getByText('2 items change.').waitFor();
  await dialog.getByRole('button', { name: 'Import' }).click();
  await page.getByText('2 items were imported.').waitFor();
  await page.getByRole('listitem').filter({ hasText: 'Fig' }).getByText('€1.50').waitFor();
  const downloading = page.waitForEvent('download');
  await page.getByRole('link', { name: 'Export' }).click();
  const file = await text(await (await downloading).createReadStream());
  assert.match(file, /"Fig","1\.50","0\.00",,"222",/);

  await page.getByRole('button', { name: 'Edit Fig' }).click();
  await field(dialog, 'Category').fill('Fruit');
  await dialog.getByRole('button', { name: 'Add option' }).click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('Enter a name and a price for each option.').waitFor();
  await field(dialog, 'Option 1').first().fill('peeled');
  await field(dialog, 'Extra price of option 1').fill('0,30');
  await window.checkAccessibility();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const fig = (await items()).find(({ name }) => name === 'Fig') as unknown as object;
  const { category, barcode, options } = fig as Readonly<Record<string, unknown>>;
  assert.deepEqual(
    [category, barcode, options],
    ['Fruit', '222', [{ name: 'peeled', unit_amount: 30 }]],
  );
  window.checkClean();
  await window.close();
});

test('an owner adds discounts for tills, and chooses the time zone from a list', async () => {
  const { person, account } = await colleague();
  const window = await open('settings');
  const { page } = window;
  const dialog = page.getByRole('dialog');
  const add = async (name: string, fill: () => Promise<unknown>) => {
    await page.getByRole('button', { name: 'Add discount' }).click();
    await field(dialog, 'Name').fill(name);
    await fill();
    await dialog.getByRole('button', { name: 'Add discount' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await add('Regulars', async () => {
    await field(dialog, 'Percentage').fill('١٢٫٥');
    await dialog.getByText('Read as 12.5 %').waitFor();
    await window.checkAccessibility();
  });
  await add('Voucher', async () => {
    await dialog.getByRole('combobox', { name: 'Kind' }).selectOption('Sum');
    await dialog.getByRole('button', { name: 'Add discount' }).click();
    await dialog.getByText('Enter a discount above 0.').waitFor();
    await field(dialog, 'Sum (EUR)').fill('5');
  });
  await page.getByRole('row', { name: /Voucher.*€5\.00/ }).waitFor();
  const discounts = async () => (await person.get(account)).body.discounts;
  assert.deepEqual(await discounts(), [
    { name: 'Regulars', rate: 1_250 },
    { name: 'Voucher', amount: 500 },
  ]);
  await page.getByRole('button', { name: 'Remove Voucher' }).click();
  await page.getByRole('row', { name: /Voucher/ }).waitFor({ state: 'detached' });
  assert.deepEqual(await discounts(), [{ name: 'Regulars', rate: 1_250 }]);
  await page.getByRole('combobox', { name: 'Time zone' }).selectOption('Europe/Dublin');
  await page.getByRole('button', { name: 'Save', exact: true }).first().click();
  const isSaved = async () => (await person.get(account)).body.time_zone === 'Europe/Dublin';
  assert.ok(await waitUntil(isSaved, SAVED_MS));
  window.checkClean();
  await window.close();
});
