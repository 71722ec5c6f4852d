import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { DESKTOP, NARROW, PHONE, type TestWindow } from '../testing/browser.ts';
import { checkFits } from '../testing/page-width.ts';
import { sharedStage } from '../testing/stage.ts';

const stage = sharedStage();

const SIZES = { phone: PHONE, desktop: DESKTOP, narrow: NARROW };

for (const [size, options] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`every component is accessible and fits: ${size}, ${colorScheme}`, async () => {
      const window = await stage().browser.open({ ...options, colorScheme });
      await window.page.goto(`${stage().sandbox.web_url}/dev/ui`);
      await window.page.getByRole('heading', { name: 'Components' }).waitFor();
      await window.checkAccessibility();
      await checkFits(window.page);
      await window.closeClean();
    });
  }
}

test('serious mistakes on a page are found, at its first check and at later ones', async () => {
  const window = await stage().browser.open();
  const { page } = window;
  const wrong = {
    'color-contrast': '<p style="color: #ccc; background: #fff">Pale</p>',
    'button-name': '<button></button>',
    label: '<input>',
    'image-alt': '<img src="data:,">',
    list: '<ul><p>No entry</p></ul>',
  };
  const right = '<html lang="en"><title>Page</title><main><h1>Page</h1><p>Text</p></main></html>';
  await page.setContent(right);
  await window.checkAccessibility();
  for (const [rule, part] of Object.entries(wrong)) {
    const starts = { message: new RegExp(`'${rule}: `) };
    await page
      .locator('p')
      .evaluate((text, html) => text.insertAdjacentHTML('afterend', html), part);
    await assert.rejects(window.checkAccessibility(), starts, `${rule}, in a page checked before`);
    await page.setContent(right.replace('</p>', `</p>${part}`));
    await assert.rejects(window.checkAccessibility(), starts, `${rule}, in a new page`);
    await page.setContent(right);
  }
  await window.close();
});

test('a dialog opens and closes by keyboard, and restores the focus', async () => {
  const window = await stage().browser.open();
  const { page } = window;
  await page.goto(`${stage().sandbox.web_url}/dev/ui`);
  const opener = page.getByRole('button', { name: 'Open the dialog' });
  await opener.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await window.checkAccessibility();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await opener.evaluate((element) => element === document.activeElement), true);
  await window.close();
});

test('a dialog has a close button, and opens with its own first control in focus', async () => {
  const window = await stage().browser.open(PHONE);
  const { page } = window;
  await page.goto(`${stage().sandbox.web_url}/dev/ui`);
  await page.getByRole('button', { name: 'Open the dialog' }).click();
  const dialog = page.getByRole('dialog');
  await dialog
    .getByRole('button', { name: 'Refund 2.50 USDC' })
    .and(page.locator(':focus'))
    .waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
  await dialog.waitFor({ state: 'detached' });
  await window.close();
});

async function pull({ page }: TestWindow, grip: Locator, px: number): Promise<void> {
  // Waits until the sheet's animation has ended.
  await grip.hover();
  const box = await grip.boundingBox();
  assert.ok(box !== null, 'the grip is seen');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x, y + px, { steps: 4 });
  // Pulls slowly, so that the sheet reacts to the distance and not to the speed.
  await page.waitForTimeout(400);
  await page.mouse.up();
}

test('sheets from below are pulled away by their grip, and stay after a nudge', async () => {
  const window = await stage().browser.open(PHONE);
  const { page } = window;
  await page.goto(`${stage().sandbox.web_url}/dev/ui`);
  await page.getByRole('button', { name: 'Open the dialog' }).click();
  const dialog = page.getByRole('dialog');
  await pull(window, dialog.locator('.sheet-grip'), 20);
  assert.equal(await dialog.isVisible(), true);
  await pull(window, dialog.locator('.sheet-grip'), 140);
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Menu' }).click();
  const sheet = page.locator('.shell-sheet:popover-open');
  await pull(window, sheet.locator('.sheet-grip'), 140);
  await sheet.waitFor({ state: 'detached' });
  await window.closeClean();
});

test('the first Tab stop skips the navigation', async () => {
  const window = await stage().browser.open();
  const { page } = window;
  await page.goto(`${stage().sandbox.web_url}/dev/ui`);
  await page.getByRole('heading', { name: 'Components' }).waitFor();
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to content' });
  await skip.and(page.locator(':focus')).waitFor();
  assert.ok(((await skip.boundingBox())?.height ?? 0) > 30, 'it is seen');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Components' }).and(page.locator(':focus')).waitFor();
  await window.close();
});

for (const [size, options] of [
  ['phone', PHONE],
  ['tablet', { viewport: { width: 820, height: 1180 } }],
] as const) {
  test(`a small screen has one bar, links to every page, and a sheet: ${size}`, async () => {
    const window = await stage().browser.open(options);
    const { page } = window;
    await page.goto(`${stage().sandbox.web_url}/dev/ui`);
    await page.getByRole('heading', { name: 'Components' }).waitFor();
    assert.equal((await page.locator('.shell-bar').boundingBox())?.height, 52);
    const link = page.getByRole('navigation').getByRole('link', { name: 'Request log' });
    assert.equal(await link.isVisible(), true, 'at the end of the page');
    await page.getByRole('button', { name: 'Menu' }).click();
    const sheet = page.locator('.shell-sheet:popover-open');
    await sheet.getByRole('link', { name: 'Request log' }).waitFor();
    await window.checkAccessibility();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Menu' }).and(page.locator(':focus')).waitFor();
    await window.closeClean();
  });
}
