import chromium from '@sparticuz/chromium';
import { type BrowserServer, chromium as playwright } from 'playwright-core';

/** Where the one Chromium of a test run listens; `test/run.ts` sets it. */
export const BROWSER_SETTING = 'TAPLINE_TEST_BROWSER';

/**
 * A Chromium that several test files share. With its own list of switches the package would run in
 * one process, which dies with the first context, and without web security: tests of CSP and CORS
 * would say nothing.
 */
export async function launchChromium(): Promise<BrowserServer> {
  const executablePath = await chromium.executablePath();
  const args = ['--no-sandbox', '--disable-gpu'];
  return playwright.launchServer({ executablePath, args, headless: true });
}
