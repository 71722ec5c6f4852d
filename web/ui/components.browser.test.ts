import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSharedSandbox, type SharedSandbox } from '#testing/shared-sandbox.ts';
import { DESKTOP, NARROW, openBrowser, PHONE, type TestBrowser } from '../testing/browser.ts';

let shared: SharedSandbox;
let browser: TestBrowser;

before(async () => {
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
});

after(async () => {
  await browser.close();
  await shared.close();
});

const SIZES = { phone: PHONE, desktop: DESKTOP, narrow: NARROW };

for (const [size, options] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    test(`every component is accessible and fits: ${size}, ${colorScheme}`, async () => {
      const window = await browser.open({ ...options, colorScheme });
      await window.page.goto(`${shared.sandbox.web_url}/dev/ui`);
      await window.page.getByRole('heading', { name: 'Components' }).waitFor();
      await window.checkAccessibility();
      const overflow = await window.page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      assert.equal(overflow, 0, 'the page scrolls sideways');
      window.checkClean();
      await window.close();
    });
  }
}

test('a dialog opens and closes by keyboard, and gives the focus back', async () => {
  const window = await browser.open();
  const { page } = window;
  await page.goto(`${shared.sandbox.web_url}/dev/ui`);
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
  const window = await browser.open(PHONE);
  const { page } = window;
  await page.goto(`${shared.sandbox.web_url}/dev/ui`);
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

test('the first stop of the tab key leads past the navigation', async () => {
  const window = await browser.open();
  const { page } = window;
  await page.goto(`${shared.sandbox.web_url}/dev/ui`);
  await page.getByRole('heading', { name: 'Components' }).waitFor();
  await page.keyboard.press('Tab');
  const skip = page.getByRole('link', { name: 'Skip to the content' });
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
  test(`a small screen has one bar, every page in view, and a sheet: ${size}`, async () => {
    const window = await browser.open(options);
    const { page } = window;
    await page.goto(`${shared.sandbox.web_url}/dev/ui`);
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
    window.checkClean();
    await window.close();
  });
}
