import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Checks that the page does not scroll sideways. */
export async function checkFits(page: Page, what = 'the page'): Promise<void> {
  const wide = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  assert.equal(wide, 0, `${what} scrolls sideways`);
}
