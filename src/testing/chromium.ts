import chromium from '@sparticuz/chromium';
import { type BrowserServer, chromium as playwright } from 'playwright-core';

/** Setting with the address of the test run's one Chromium; `test/run.ts` sets it. */
export const BROWSER_SETTING = 'TAPLINE_TEST_BROWSER';

/**
 * Starts a Chromium that several test files share. With the package's default switches it would run
 * in one process, which dies with the first context, and without web security, so that tests of CSP
 * and CORS would prove nothing.
 */
export async function launchChromium(): Promise<BrowserServer> {
  const executablePath = await chromium.executablePath();
  const args = ['--no-sandbox', '--disable-gpu'];
  return playwright.launchServer({ executablePath, args, headless: true });
}
