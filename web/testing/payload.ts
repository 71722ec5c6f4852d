import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { TestWindow } from './browser.ts';

/** A page counts as loaded after this long without a request. */
const IDLE_MS = 500;

/**
 * A string, because server tests import code that opens windows, and their types have no
 * `document`.
 */
const SHIFTS = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries())).observe({
    type: 'layout-shift',
    buffered: true,
  });
  // Resolves even if nothing shifts: the observer is then never called.
  setTimeout(() => resolve([]), 200);
}).then((entries) =>
  entries
    .filter(({ hadRecentInput }) => !hadRecentInput)
    .map(({ value, sources }) => ({
      value,
      moved: sources.map(({ node }) => node?.outerHTML?.slice(0, 200) ?? node?.textContent),
    })),
)`;

/** Fails if anything on this page has shifted without user input since the page was opened. */
export async function checkStill({ page }: TestWindow): Promise<void> {
  assert.deepEqual(await page.evaluate(SHIFTS), [], new URL(page.url()).pathname);
}

/**
 * Measures a page's first load (behavior.md 21.6): all bodies of its origin except `/api`, until it
 * is idle, without a service worker. Text counts as compressed by gzip -9.
 */
export async function measureFirstLoad({ page }: TestWindow, url: string): Promise<number> {
  const { origin } = new URL(url);
  const sizes: Promise<number>[] = [];
  page.on('response', (response) => {
    const address = new URL(response.url());
    if (address.origin !== origin || address.pathname.includes('/api/')) return;
    const type = response.headers()['content-type'] ?? '';
    const isText = /text|json|javascript|xml/.test(type);
    sizes.push(
      response.body().then(
        (body) => (isText ? gzipSync(body, { level: 9 }).length : body.length),
        // A 304 response has no body.
        () => 0,
      ),
    );
  });
  await page.goto(url);
  for (let seen = -1; seen !== sizes.length; ) {
    seen = sizes.length;
    await page.waitForTimeout(IDLE_MS);
  }
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
