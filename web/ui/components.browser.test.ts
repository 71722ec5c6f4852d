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
