import { gzipSync } from 'node:zlib';
import type { TestWindow } from './browser.ts';

/** Once nothing has been asked for this long, a page counts as loaded. */
const IDLE_MS = 500;

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
