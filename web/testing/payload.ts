import assert from 'node:assert/strict';
import { gzipSync } from 'node:zlib';
import type { TestWindow } from './browser.ts';

/** Once nothing has been asked for this long, a page counts as loaded. */
const IDLE_MS = 500;

/** As text: the tests of the server, which open windows too, know no `document`. */
const SHIFTS = `new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries())).observe({
    type: 'layout-shift',
    buffered: true,
  });
  // Without any there is no call.
  setTimeout(() => resolve([]), 200);
}).then((entries) =>
  entries
    .filter(({ hadRecentInput }) => !hadRecentInput)
    .map(({ value, sources }) => ({
      value,
      moved: sources.map(({ node }) => node?.outerHTML?.slice(0, 200) ?? node?.textContent),
    })),
)`;

/** Fails with what has moved on this page since it was opened, without a press. */
export async function checkStill({ page }: TestWindow): Promise<void> {
  assert.deepEqual(await page.evaluate(SHIFTS), [], new URL(page.url()).pathname);
}

/**
 * What the first load of a page weighs (behavior.md 21.6): all bodies of its own origin but
 * `/api`, until it is idle, without service worker; text as gzip -9 packs it, the rest as it is.
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
        // An answer that says "as before" has no body.
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
