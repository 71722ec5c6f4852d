import chromium from '@sparticuz/chromium';
import {
  type BrowserContext,
  type BrowserContextOptions,
  type BrowserServer,
  chromium as playwright,
} from 'playwright-core';
import { findByArgument, signalProcess } from '#sandbox/processes.ts';

/** Setting with the address of the test run's one Chromium; `test/run.ts` sets it. */
export const BROWSER_SETTING = 'TAPLINE_TEST_BROWSER';

/**
 * Starts a Chromium that several test files share. The package's default switches run it in one
 * process, which dies with the first context, and without web security, so that tests of CSP and
 * CORS would prove nothing.
 */
export async function launchChromium(): Promise<BrowserServer> {
  return playwright.launchServer(await launchOptions());
}

async function launchOptions() {
  const executablePath = await chromium.executablePath();
  return { executablePath, args: ['--no-sandbox', '--disable-gpu'], headless: true };
}

/** Starts a Chromium whose storage is in this folder. `kill` sends SIGKILL. */
export async function launchProfile(
  folder: string,
  options: BrowserContextOptions,
): Promise<{ readonly context: BrowserContext; kill(): Promise<void> }> {
  const all = { ...options, ...(await launchOptions()) };
  const context = await playwright.launchPersistentContext(folder, all);
  const closed = new Promise<void>((resolve) => context.once('close', () => resolve()));
  return {
    context,
    kill: async () => {
      // The other processes of the browser end with this one.
      for (const pid of findByArgument(`--user-data-dir=${folder}`)) signalProcess(pid, 'SIGKILL');
      await closed;
    },
  };
}
