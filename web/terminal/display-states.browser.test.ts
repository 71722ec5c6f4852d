import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { ownStage } from '../testing/stage.ts';
import {
  addCatalogueItem,
  newTill,
  openDisplay,
  postAsMerchant,
  setShop,
  signInOwner,
} from '../testing/till.ts';

const ITEMS = Array.from({ length: 20 }, (_, at) => ({
  name: `Tea ${at + 1}, loose leaf from the first harvest of the year`,
  unit_amount: 100 + at,
}));

const stage = ownStage(async ({ sandbox }) => {
  await setShop(sandbox, { currency: 'eur' });
  for (const item of ITEMS) {
    const taxed = { tax_rate: 700, tax_inclusive: true, currency: 'eur' };
    await addCatalogueItem(sandbox, { ...taxed, ...item });
  }
  const owner = await signInOwner(sandbox);
  const brand = `/accounts/${sandbox.account}/brand`;
  const logo = await readFile('web/public/icons/tapline-180.png');
  const type = { 'Content-Type': 'image/png' };
  for (const { status, text } of [
    await owner.send('PUT', `${brand}/color`, { color: '#0a7d4c' }),
    await owner.send('POST', `${brand}/logo`, logo, type),
  ]) {
    assert.equal(status, 200, text);
  }
});

/** Windows that face customers, in pixels: small panels, tablets, a laptop, and one on its side. */
const VIEWPORTS = [
  { width: 800, height: 480 },
  { width: 1024, height: 600 },
  { width: 1024, height: 768 },
  { width: 1280, height: 800 },
  { width: 800, height: 1280 },
];

/** The least side of a code, in pixels, from which a phone reads it across a counter. */
const LEAST_CODE = 180;

/** Runs in the page. Returns each text, picture and control that is not wholly in the window. */
function below(): string[] {
  const out: string[] = [];
  const page = document.documentElement;
  if (page.scrollHeight > innerHeight || page.scrollWidth > innerWidth) {
    out.push(`the page is ${page.scrollWidth} × ${page.scrollHeight}`);
  }
  for (const one of document.querySelectorAll('main *:not(title, link, path, rect)')) {
    const isSeen = one.children.length === 0 || one.matches('svg, button, section');
    const box = one.getBoundingClientRect();
    if (!isSeen || box.width <= 1) continue;
    const parent = one.closest('section')?.getBoundingClientRect() ?? box;
    const fits =
      box.top >= Math.max(0, parent.top - 1) &&
      box.bottom <= Math.min(innerHeight, parent.bottom + 1) &&
      box.left >= 0 &&
      box.right <= innerWidth;
    if (!fits) {
      out.push(`${one.outerHTML.slice(0, 120)} ${Math.round(box.top)}–${Math.round(box.bottom)}`);
    }
  }
  return out;
}

async function checkStates(display: Page, state: string): Promise<void> {
  for (const viewport of VIEWPORTS) {
    await display.setViewportSize(viewport);
    // Two frames: the cart counts its rows after the first one.
    await display.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
    const at = `${state} at ${viewport.width} × ${viewport.height}`;
    assert.deepEqual(await display.evaluate(below), [], at);
    for (const code of await display.locator('.qr').all()) {
      const { width = 0 } = (await code.boundingBox()) ?? {};
      assert.ok(width >= LEAST_CODE, `${at}: a code of ${width} px`);
    }
  }
}

test('the display shows the whole sale, and nothing below the fold, in nine states', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  const display = await openDisplay(till);
  await page.getByRole('link', { name: 'Catalogue', exact: true }).click();
  await display.getByText('Welcome').waitFor();
  await checkStates(display, 'idle');
  const band = display.locator('.branded');
  assert.equal(
    await band.evaluate((name) => getComputedStyle(name).backgroundColor),
    'rgb(10, 125, 76)',
    'the shop’s color',
  );

  const items = page.locator('.item');
  await items.first().click();
  const cart = display.getByRole('region', { name: 'Cart' });
  await cart.getByText('€1.00').first().waitFor();
  assert.match((await cart.textContent()) ?? '', /1 ×Tea 1,.*Sum€1\.00/);
  await checkStates(display, 'cart');
  for (const item of (await items.all()).slice(1)) await item.click();
  await cart.getByText('€21.90').waitFor();
  await cart.getByText('Tea 20,').waitFor();
  await checkStates(display, 'full cart');

  await till.charge.click();
  await display.getByText('Service fee').waitFor();
  await display.getByText('Total', { exact: true }).waitFor();
  assert.equal(await display.getByText('Sum', { exact: true }).count(), 0);
  await checkStates(display, 'total');

  await till.testPass.selectOption('insufficient_funds');
  const alert = display.getByRole('alert');
  await alert.waitFor();
  assert.equal(await alert.textContent(), 'Declined');
  await checkStates(display, 'declined');

  await till.testPass.selectOption('ok');
  const paid = display.getByRole('status');
  await paid.getByText('Thank you').waitFor();
  await paid.getByRole('img', { name: 'QR code for this receipt' }).waitFor();
  await checkStates(display, 'paid');
  await till.newPayment.click();
  await display.getByText('Welcome').waitFor();

  await postAsMerchant(sandbox, '/payment_intents', {
    presentment: { currency: 'eur', amount: 900 },
    terminal: terminal.id,
    tipping: { percentages: [10, 15, 20] },
  });
  await display.getByRole('radio', { name: /^20 %/ }).waitFor();
  await checkStates(display, 'tip');
  await display.getByRole('radio', { name: /^20 %/ }).check();
  await display.getByRole('button', { name: /^Add tip/ }).click();
  await till.testPass.selectOption('confirm');
  await display.getByText('Confirm on your phone').waitFor();
  await checkStates(display, 'confirming');

  till.checkClean();
  await till.context.setOffline(true);
  await display.getByRole('status').getByText('Offline', { exact: true }).waitFor();
  await checkStates(display, 'offline');
  await till.context.setOffline(false);
  await till.close();
});
