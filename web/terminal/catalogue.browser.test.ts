import assert from 'node:assert/strict';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { DESKTOP } from '../testing/browser.ts';
import { addCamera } from '../testing/detecting-camera.ts';
import { checkFits } from '../testing/page-width.ts';
import { measureFirstLoad } from '../testing/payload.ts';
import { ownStage } from '../testing/stage.ts';
import {
  addCatalogueItem,
  addTestTerminal,
  intentsOf,
  newTill,
  openTill,
  setShop,
} from '../testing/till.ts';

const ESPRESSO = '4006381333931';
const CAFE = [
  { name: 'Flat white', unit_amount: 380, category: 'Coffee' },
  { name: 'Espresso', unit_amount: 240, category: 'Coffee', barcode: ESPRESSO },
  { name: 'Cheesecake', unit_amount: 490, category: 'Cake' },
  { name: 'Bottle deposit', unit_amount: -25 },
];
/** Enough for a cart of twenty lines. */
const MORE = Array.from({ length: 16 }, (_, at) => ({ name: `Tea ${at + 1}`, unit_amount: 300 }));

const stage = ownStage(async ({ sandbox }) => {
  await setShop(sandbox, { currency: 'eur' });
  for (const item of [...CAFE, ...MORE])
    await addCatalogueItem(sandbox, {
      ...{ tax_rate: 700, tax_inclusive: true, currency: 'eur' },
      ...item,
    });
});

/** Widths of a phone, a tablet, a small and a large counter screen, in pixels. */
const SCREENS = [
  { width: 390, height: 800 },
  { width: 820, height: 1180 },
  { width: 1024, height: 768 },
  { width: 1440, height: 900 },
];

for (const viewport of SCREENS) {
  test(`Charge stays in one place with 0, 1 and 20 lines at ${viewport.width} px`, async () => {
    const { till, page } = await newTill(stage(), { viewport });
    await page.getByRole('region', { name: 'Cart' }).waitFor();
    await page.locator('.item').last().waitFor();
    const place = async () => present(await till.charge.boundingBox(), 'Charge');
    const empty = await place();
    assert.ok(empty.y + empty.height <= viewport.height, 'Charge is on the screen');
    const items = page.locator('.item');
    await items.first().click();
    assert.deepEqual(await place(), empty);
    for (const item of (await items.all()).slice(1)) await item.click();
    assert.equal(await page.locator('.cart-line').count(), 20);
    assert.deepEqual(await place(), empty);
    const targets = page.locator('.till button, .till a, .category');
    for (const target of await targets.all()) {
      const box = await target.boundingBox();
      if (box === null) continue;
      assert.ok(box.height >= 44, `${await target.textContent()}: ${box.height} px high`);
    }
    const group = page.getByRole('group', { name: 'Category' });
    const categories = present(await group.boundingBox(), 'categories');
    assert.ok(categories.height >= 44, `the categories are ${categories.height} px high`);
    const other = page.getByRole('button', { name: 'Other amount' });
    const search = page.getByRole('searchbox', { name: 'Search items' });
    const [{ y: otherAt }, { y: searchAt }] = [
      present(await other.boundingBox(), 'Other amount'),
      present(await search.boundingBox(), 'search'),
    ];
    assert.ok(Math.abs(otherAt - searchAt) < 22, 'search and buttons stand in one row');
    await checkFits(page, 'the catalogue');
    await till.checkAccessibility();
    till.checkClean();
    await till.close();
  });
}

test('a till opens on its catalogue, and finds items by category, name and barcode', async () => {
  const { sandbox } = stage();
  const { till, page, terminal } = await newTill(stage());
  await page.locator('a[aria-current=page]', { hasText: 'Catalogue' }).waitFor();
  const shown = () => page.locator('.item-name').allTextContents();
  await page.getByRole('group', { name: 'Category' }).getByRole('radio', { name: 'Cake' }).check();
  assert.deepEqual(await shown(), ['Cheesecake']);
  const search = page.getByRole('searchbox', { name: 'Search items' });
  await search.fill('WHÎTE');
  assert.deepEqual(await shown(), ['Flat white']);
  await search.press('Enter');
  assert.equal(await search.inputValue(), '');
  // A keyboard scanner types the digits and Enter, whatever has the focus.
  const scan = async (code: string) => {
    await page.locator('h1').first().focus();
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
  };
  await scan(ESPRESSO);
  const cart = page.getByRole('region', { name: 'Cart' });
  await cart.getByText('1 × €2.40').waitFor();
  await page.getByRole('link', { name: 'Keypad' }).click();
  await scan(ESPRESSO);
  await cart.getByText('2 × €2.40').waitFor();
  const depth = () => page.evaluate(() => history.length);
  const before = await depth();
  await scan('9999999999999');
  await page.getByRole('status').getByText('No item has this barcode').waitFor();
  assert.equal(await depth(), before, 'the back button does not go through the scans');
  assert.equal(await page.locator('.cart-line').count(), 2);
  await cart.getByRole('button', { name: 'Take one: Espresso' }).click();
  await cart.getByRole('button', { name: 'Take one: Flat white' }).click();
  assert.equal(await page.locator('.cart-line').count(), 1);
  // A cleared cart is empty at once, and can be taken back.
  await cart.getByRole('button', { name: 'Clear cart' }).click();
  assert.equal(await page.locator('.cart-line').count(), 0);
  await cart.getByRole('button', { name: 'Undo' }).click();
  assert.equal(await page.locator('.cart-line').count(), 1);
  await page.getByRole('button', { name: 'Other amount' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('−0,50');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await page.getByRole('button', { name: 'Charge €1.90', exact: true }).click();
  await till.testPass.waitFor();
  const [intent] = await intentsOf(sandbox, terminal);
  const lines = intent?.line_items as readonly Record<string, unknown>[];
  assert.deepEqual(
    lines.map(({ name, item, unit_amount }) => [name, item === null, unit_amount]),
    [
      ['Espresso', false, 240],
      ['Amount', true, -50],
    ],
  );
  await till.pay();
  till.checkClean();
  await till.close();
});

/** The items need the code of the cart and all texts of the till. */
const BUDGET_BYTES = 160_000;

test('the first load of a catalogue stays within its budget', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const options = { ...DESKTOP, serviceWorkers: 'block' as const };
  const till = await openTill(browser, sandbox, { terminal, options });
  await till.page.locator('.item').first().waitFor();
  const size = await measureFirstLoad(till, `${sandbox.web_url}/terminal`);
  assert.ok(size > 110_000 && size <= BUDGET_BYTES, `${size} bytes`);
  await till.close();
});

test('the kept catalogue serves a till that is opened without a connection', async () => {
  const { till, page } = await newTill(stage());
  await page.locator('.item').first().waitFor();
  await page.route('**/api/device/v1/**', (route) => route.abort());
  await page.reload();
  await page.getByRole('button', { name: /^Flat white/ }).waitFor();
  await till.close();
});

test('the camera reads the barcode of an item into the cart', async () => {
  const { till, page } = await newTill(stage(), undefined, {
    prepare: (page) => addCamera(page, ESPRESSO, ['ean_13', 'qr_code']),
  });
  await page.getByRole('button', { name: 'Scan a barcode' }).click();
  await page.getByRole('region', { name: 'Cart' }).getByText('1 × €2.40').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0, 'the camera is closed');
  till.checkClean();
  await till.close();
});

test('a browser whose camera reads no barcodes says so', async () => {
  const { till, page } = await newTill(stage());
  await page.getByRole('button', { name: 'Scan a barcode' }).click();
  await page.getByRole('alert').getByText('camera reads no barcodes').waitFor();
  await till.checkAccessibility();
  till.checkClean();
  await till.close();
});

test('the next shift does not open on the result of the last one', async () => {
  const { till, page } = await newTill(stage());
  await page.getByRole('button', { name: /^Espresso/ }).click();
  await till.charge.click();
  await till.pay();
  await page.getByRole('link', { name: 'Totals' }).click();
  await page.getByRole('button', { name: 'End shift' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End shift' }).click();
  await page.getByRole('button', { name: /^Start shift/ }).click();
  await page.getByRole('searchbox', { name: 'Search items' }).waitFor();
  assert.equal(await till.result('Paid').count(), 0);
  till.checkClean();
  await till.close();
});
