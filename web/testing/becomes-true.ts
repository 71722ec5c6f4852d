import type { Page } from 'playwright-core';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';

const LIMIT_MS = 30_000;

/**
 * Waits until the promise that the function returns in the page is true. `page.waitForFunction`
 * returns at once instead, because it takes the promise itself for true.
 */
export function becomesTrue(page: Page, look: string | (() => Promise<boolean>)): Promise<boolean> {
  return eventually(String(look), () => page.evaluate<boolean>(look), LIMIT_MS);
}
