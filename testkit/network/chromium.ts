import chromium from '@sparticuz/chromium';
import {
  type BrowserContext,
  type BrowserContextOptions,
  type BrowserServer,
  chromium as playwright,
} from 'playwright-core';
import { findByArgument, signalProcess } from '#sandbox/find-and-stop-processes.ts';

/**
 * Environment variable with the address of the Chromium that all test files share. `test/run.ts`
 * sets it.
 */
export const BROWSER_SETTING = 'TAPLINE_TEST_BROWSER';

/**
 * Starts a Chromium that several test files share. Drops two of Playwright's default switches: one
 * runs everything in a single process, which ends with the first context; the other disables web
 * security, without which tests of CSP and CORS mean nothing.
 */
export async function launchChromium(): Promise<BrowserServer> {
  return playwright.launchServer(await launchOptions());
}

async function launchOptions() {
  const executablePath = await chromium.executablePath();
  return { executablePath, args: ['--no-sandbox', '--disable-gpu'], headless: true };
}

/** Starts a Chromium with its profile in this folder. `kill` sends SIGKILL. */
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
