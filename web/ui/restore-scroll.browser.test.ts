import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { becomesTrue } from '../testing/becomes-true.ts';
import { DESKTOP } from '../testing/browser.ts';
import { openSignedIn } from '../testing/signed-in.ts';
import { sharedStage } from '../testing/stage.ts';

/** A window shorter than every page, so that all of them scroll. */
const LOW = { ...DESKTOP, viewport: { width: 1280, height: 360 } };

const stage = sharedStage();

function waitForFocus(page: Page, title: string) {
  return page.waitForFunction((text) => {
    const { activeElement } = document;
    return activeElement?.tagName === 'H1' && activeElement.textContent === text;
  }, title);
}

function waitForPlace(page: Page, px: number) {
  return page.waitForFunction((at) => Math.abs(scrollY - at) < 2, px);
}

/** Time without a change of height after which a page counts as complete. */
const SETTLED_MS = 300;

/**
 * Waits until the page's height is stable. Content that loads above shifts the scroll position,
 * because browsers keep the visible content in place.
 */
function waitUntilSettled(page: Page) {
  return becomesTrue(
    page,
    `new Promise((done) => {
      const before = document.documentElement.scrollHeight;
      setTimeout(() => done(document.documentElement.scrollHeight === before), ${SETTLED_MS});
    })`,
  );
}

async function scrollTo(page: Page, px: number): Promise<void> {
  await waitUntilSettled(page);
  // Repeats, because the page cannot scroll that far until it is tall enough.
  await page.waitForFunction((at) => {
    window.scrollTo(0, at);
    return scrollY === at;
  }, px);
  // The position is stored after the browser's scroll event.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
}

test('a link leads to the top of a page and its heading, Back to the old position', async () => {
  const window = await openSignedIn(stage(), 'dashboard/settings', LOW);
  const { page } = window;
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  await scrollTo(page, 120);
  // Uses the keyboard, because the mouse would first scroll to the link.
  await page.getByRole('link', { name: 'Risk rules', exact: true }).dispatchEvent('click');
  await waitForFocus(page, 'Risk rules');
  assert.equal(await page.evaluate(() => scrollY), 0);
  await window.checkAccessibility();
  await page.keyboard.press('Tab');
  const isInside = () => document.activeElement?.closest('main') != null;
  assert.ok(await page.evaluate(isInside), 'the tab key continues from the heading');
  await scrollTo(page, 60);
  await page.goBack();
  await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
  await waitForPlace(page, 120);
  await page.goForward();
  await page.getByRole('heading', { name: 'Risk rules', level: 1 }).waitFor();
  await waitForPlace(page, 60);
  await window.closeClean();
});

test('changing a filter on the same page keeps the focus where it is', async () => {
  const window = await openSignedIn(stage(), 'dashboard/payments', LOW);
  const { page } = window;
  await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor();
  const filter = page.getByRole('main').getByRole('combobox').first();
  await filter.focus();
  await filter.selectOption({ index: 1 });
  await page.waitForURL(/\?/);
  const isKept = await filter.evaluate((select) => document.activeElement === select);
  assert.ok(isKept, 'the focus has gone');
  await window.closeClean();
});
