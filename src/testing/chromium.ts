import chromium from '@sparticuz/chromium';
import {
  type BrowserContext,
  type BrowserContextOptions,
  type BrowserServer,
  chromium as playwright,
} from 'playwright-core';
import { findByArgument, signalProcess } from '#sandbox/processes.ts';

/**
 * Environment variable with the address of the Chromium that all test files share; `test/run.ts`
 * sets it.
 */
export const BROWSER_SETTING = 'TAPLINE_TEST_BROWSER';

/**
 * Starts a Chromium that several test files share. Playwright's default switches would run it in
 * one process, which dies with the first context, and disable web security, which would make tests
 * of CSP and CORS meaningless.
 */
export async function launchChromium(): Promise<BrowserServer> {
  return playwright.launchServer(await launchOptions());
}

async function launchOptions() {
  const executablePath = await chromium.executablePath();
  return { executablePath, args: ['--no-sandbox', '--disable-gpu'], headless: true };
}

/** Starts a Chromium that stores its profile in this folder. `kill` sends SIGKILL. */
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
      // Also kills the browser's child processes.
      for (const pid of findByArgument(`--user-data-dir=${folder}`)) signalProcess(pid, 'SIGKILL');
      await closed;
    },
  };
}
