import assert from 'node:assert/strict';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { PHONE } from '../testing/browser.ts';
import { checkFits } from '../testing/page-width.ts';
import { ownStage } from '../testing/stage.ts';
import {
  addCatalogueItem,
  newTill,
  paymentsOf,
  setShop,
  type TillWindow,
} from '../testing/till.ts';

const CAFE = ['Flat white', 'Espresso', 'Cheesecake', 'Brownie', 'Tea', 'Juice'];

const stage = ownStage(async ({ sandbox }) => {
  await setShop(sandbox, { currency: 'eur' });
  for (const name of CAFE)
    await addCatalogueItem(sandbox, {
      ...{ name, unit_amount: 380, tax_rate: 700, tax_inclusive: true, currency: 'eur' },
    });
});

async function sellItems(till: TillWindow, names: readonly string[]): Promise<void> {
  for (const name of names) await till.page.locator('.item', { hasText: name }).click();
  await till.charge.click();
  await till.pay();
}

/** Checks that fingers hit each button and link. */
async function checkTargets(till: TillWindow): Promise<void> {
  // A screen grows to its size while it appears.
  await till.page.waitForFunction(() =>
    document.getAnimations().every(({ playState }) => playState !== 'running'),
  );
  const targets = await till.page.locator('.till-main :is(button, a)').all();
  assert.ok(targets.length > 0);
  for (const target of targets) {
    const box = await target.boundingBox();
    if (box === null) continue;
    const name = await target.textContent();
    assert.ok(box.height >= 44 && box.width >= 44, `${name}: ${box.width} × ${box.height} px`);
  }
}

const DOUBLE_TAP_MS = 400;
const WIDE = { viewport: { width: 1024, height: 768 } };

for (const [screen, options] of [
  ['phone', PHONE],
  ['tablet', WIDE],
] as const) {
  test(`a result offers its receipt by print, mail, code or not at all: ${screen}`, async () => {
    const { till, page } = await newTill(stage(), options);
    await sellItems(till, ['Espresso']);
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('Print').and(page.locator(':enabled')).waitFor();
    await checkTargets(till);
    await checkFits(page, 'the result');
    const top = async (text: string) => {
      const place = page.getByText(text, { exact: true }).first();
      return present(await place.boundingBox(), text);
    };
    if (screen === 'phone') assert.ok((await top('You get')).y > (await top('Total')).y);
    await till.checkAccessibility();
    const printed = till.context.waitForEvent('page');
    await button('Print').click();
    assert.match((await printed).url(), /\/receipts\/\w+#print$/);
    await (await printed).close();
    const dialog = page.getByRole('dialog');
    await button('Email').click();
    await dialog.getByRole('textbox', { name: 'Email' }).fill('jane@example.com');
    await till.checkAccessibility();
    await dialog.getByRole('button', { name: /^Email/ }).click();
    await dialog.getByText('The receipt is on its way.').waitFor();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await button('Code').click();
    await dialog.getByRole('img', { name: 'The receipt' }).waitFor();
    await page.keyboard.press('Escape');
    await button('No receipt').click();
    assert.equal(await button('Email').count(), 0);
    await till.newPayment.click();
    await page.getByRole('link', { name: 'History' }).click();
    const entry = page.locator('.entry');
    await entry.getByText('Total', { exact: true }).waitFor();
    await entry.getByText('1 × Espresso').waitFor();
    await entry.click();
    for (const [name, sum] of [
      ['Total', /^€3\.8\d$/],
      ['You get', /^€3\.80$/],
      ['1 × Espresso', /^€3\.80$/],
    ] as const) {
      const fact = page.locator('.fact').filter({ has: page.getByText(name, { exact: true }) });
      await fact.getByText(sum).waitFor();
    }
    await till.checkAccessibility();
    till.checkClean();
    await till.close();
  });
}

test('a result ends after the chosen time without use, and can be silent', async () => {
  const { till, page } = await newTill(stage(), PHONE, {
    prepare: (page) =>
      page.addInitScript(() => {
        Object.assign(window, { vibrations: 0 });
        const vibrate = () => {
          (window as unknown as { vibrations: number }).vibrations++;
        };
        Object.defineProperty(navigator, 'vibrate', { value: vibrate });
      }),
  });
  const vibrations = () =>
    page.evaluate(() => (window as unknown as { vibrations: number }).vibrations);
  await page.getByRole('link', { name: 'Settings' }).click();
  const choice = page.getByRole('combobox', { name: /^Return to the till after/ });
  await choice.waitFor();
  assert.deepEqual(await choice.locator('option').allTextContents(), [
    ...['Off', '3 s', '5 s', '10 s'],
  ]);
  assert.equal(await choice.locator('option:checked').textContent(), 'Off');
  await choice.selectOption('3 s');
  await page.getByRole('link', { name: 'Catalogue' }).click();
  await sellItems(till, ['Tea']);
  const search = page.getByRole('searchbox', { name: 'Search items' });
  await search.waitFor({ timeout: 10_000 });
  const felt = await vibrations();
  assert.ok(felt > 0);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('switch', { name: 'Sounds and vibration' }).click();
  await page.getByRole('link', { name: 'Catalogue' }).click();
  await sellItems(till, ['Tea']);
  assert.equal(await vibrations(), felt);
  await page.getByRole('button', { name: 'Email', exact: true }).click();
  await page.waitForTimeout(4_000);
  await page.getByRole('dialog').getByRole('button', { name: 'Done' }).click();
  for (let moves = 0; moves < 4; moves++) {
    await page.waitForTimeout(1_000);
    await page.mouse.move(100 + moves, 100);
  }
  assert.ok(await till.result('Paid').isVisible());
  await search.waitFor({ timeout: 10_000 });
  till.checkClean();
  await till.close();
});

test('a sale of six items with discount and tip takes at most twelve touches', async () => {
  const { sandbox } = stage();
  const { till, page, terminal } = await newTill(stage(), PHONE, {
    prepare: (page) =>
      page.addInitScript(() => {
        Object.assign(window, { touches: 0 });
        const count = ({ isTrusted }: Event) => {
          const counted = window as unknown as { touches: number };
          if (isTrusted) counted.touches++;
        };
        addEventListener('pointerdown', count, { capture: true });
      }),
  });
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('switch', { name: 'Ask for tips' }).click();
  await page.getByRole('link', { name: 'Catalogue' }).click();
  const touches = () => page.evaluate(() => (window as unknown as { touches: number }).touches);
  const before = await touches();
  for (const name of CAFE) await page.locator('.item', { hasText: name }).tap();
  await page.getByRole('button', { name: /^Discount/ }).tap();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^10 %/ }).tap();
  await dialog.getByRole('button', { name: /^Save/ }).tap();
  // Faster, two taps at one place would be a double tap.
  await page.waitForTimeout(DOUBLE_TAP_MS);
  await till.charge.tap();
  await page.getByRole('radio', { name: /^15 %/ }).tap();
  await page.getByRole('button', { name: /^Add tip/ }).tap();
  await till.testPass.waitFor();
  const count = (await touches()) - before;
  assert.ok(count > 6 && count <= 12, `${count} touches`);
  await till.pay();
  const [payment] = await paymentsOf(sandbox, terminal);
  const { line_items: lines, discount, presentment } = present(payment, 'the payment');
  const { amount, tip_amount: tip } = presentment as { amount: number; tip_amount: number };
  assert.deepEqual([(lines as unknown[]).length, discount, amount], [6, 228, 2_052]);
  assert.equal(tip, 308);
  till.checkClean();
  await till.close();
});
