import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import {
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { BROWSER_SETTING, launchChromium, launchProfile } from '#testkit/network/chromium.ts';
import { checkNamedControls } from './named-controls.ts';
import { checkPlainWords } from './plain-words.ts';
import { TRANSLATION_SETTING, translatePages } from './translation.ts';

/** A browser window that records errors in its pages. */
export interface TestWindow {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Console errors, uncaught exceptions and CSP violations. */
  readonly problems: readonly string[];
  /** Waits until there has been no request for half a second. */
  idle(): Promise<void>;
  /**
   * Fails on serious or critical axe findings, on visible text that only programs understand
   * (except on pages for developers), and on table rows with a `position`.
   */
  checkAccessibility(): Promise<void>;
  /** Fails on console problems, except those that a broken network causes. */
  checkClean(mayBe?: RegExp): void;
  close(): Promise<void>;
  /** Ends a journey: closes the window after `checkClean`. */
  closeClean(mayBe?: RegExp): Promise<void>;
}

export interface TestBrowser {
  open(options?: BrowserContextOptions): Promise<TestWindow>;
  close(): Promise<void>;
}

/** The screen sizes that every journey uses. */
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
export const DESKTOP = { viewport: { width: 1280, height: 800 } };
/** The narrowest screen that WCAG 2.2 requires (1.4.10). */
export const NARROW = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true };

/**
 * Returns the looks in which a journey runs: only the first in `npm test`, and all of them in the
 * long run (test/long/looks.test.ts).
 */
export function looksToRun<Look>(looks: readonly Look[]): readonly Look[] {
  return process.env.ALL_LOOKS === '1' ? looks : looks.slice(0, 1);
}

const axeSource = readFileSync(new URL(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Skips axe rules whose findings are minor or moderate by definition; they take a third of a run.
 */
const RUN_AXE = `(() => {
  const low = axe._audit.rules.filter(({ impact }) => /^(minor|moderate)$/.test(impact));
  const rules = Object.fromEntries(low.map(({ id }) => [id, { enabled: false }]));
  return axe.run(document, { resultTypes: ['violations'], rules })
    .then(({ violations }) => violations);
})()`;

interface AxeFinding {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/**
 * Waits until transitions have finished, because the check reads colors. Does not wait for endless
 * animations.
 */
const SETTLED = `Promise.all(document.getAnimations()
  .filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity)
  .map(({ finished }) => finished.catch(() => {}))).then(() => {})`;

async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(SETTLED);
  // Evaluates axe through the debugger, because the page's CSP blocks scripts that a test adds.
  // Loads it once per document, because loading takes longer than a run.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(`(() => { ${axeSource} })()`);
  const findings: readonly AxeFinding[] = await page.evaluate(RUN_AXE);
  return findings
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id}: ${help}\n  ${node.html}\n  ${node.failureSummary ?? ''}`),
    );
}

/**
 * WebKit ignores `position` on table rows, so a link stretched over a row covers the whole window
 * there.
 */
const POSITIONED_ROWS = `[...document.querySelectorAll('tr, tbody, thead, tfoot')]
  .filter((part) => {
    const { display, position } = getComputedStyle(part);
    return display.startsWith('table-') && position !== 'static';
  })
  .map((part) => part.outerHTML.slice(0, 200))`;

function watch(page: Page, problems: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
}

const IDLE_MS = 500;
const IDLE_WITHIN_MS = 30_000;

/**
 * Returns a function that waits until traffic has ended. Playwright's `networkidle` never fires on
 * a page with an event stream.
 */
function followTraffic(page: Page): () => Promise<void> {
  const pending = new Set<Request>();
  let changed = performance.now();
  const end = (request: Request) => {
    if (pending.delete(request)) changed = performance.now();
  };
  page.on('request', (request) => {
    if (request.resourceType() === 'eventsource') return;
    pending.add(request);
    changed = performance.now();
  });
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  return async () => {
    const deadline = performance.now() + IDLE_WITHIN_MS;
    while (pending.size > 0 || performance.now() - changed < IDLE_MS) {
      const urls = [...pending].map((request) => request.url());
      assert.ok(performance.now() < deadline, `not idle: ${urls}`);
      await page.waitForTimeout(50);
    }
  };
}

/** Chromium reports its language as `en-US@posix` here, which Intl does not know. */
const LOCALE = { locale: 'en-US', timezoneId: 'UTC' } as const;

async function watchedWindow(context: BrowserContext): Promise<TestWindow> {
  const page = context.pages()[0] ?? (await context.newPage());
  const problems: string[] = [];
  watch(page, problems);
  const idle = followTraffic(page);
  context.on('page', (other) => watch(other, problems));
  const checkClean = (mayBe?: RegExp) =>
    assert.deepEqual(
      problems.filter((problem) => mayBe?.test(problem) !== true),
      [],
    );
  return {
    page,
    context,
    problems,
    idle,
    checkAccessibility: async () => {
      assert.deepEqual(await seriousFindings(page), []);
      await checkPlainWords(page);
      await checkNamedControls(page);
      assert.deepEqual(await page.evaluate(POSITIONED_ROWS), [], 'a positioned row of a table');
    },
    checkClean,
    close: () => context.close(),
    closeClean: async (mayBe) => {
      checkClean(mayBe);
      await context.close();
    },
  };
}

/**
 * A window with a separate profile: its storage is on the disk and remains when the browser ends.
 */
export interface TestDevice extends TestWindow {
  /** Kills the browser with SIGKILL: none of its processes can finish its work. */
  kill(): Promise<void>;
}

/**
 * Starts a browser with its storage in this folder. A later browser can continue with the same
 * folder.
 */
export async function openDevice(
  folder: string,
  options: BrowserContextOptions = DESKTOP,
): Promise<TestDevice> {
  const { context, kill } = await launchProfile(folder, { ...LOCALE, ...options });
  return { ...(await watchedWindow(context)), kill };
}

/**
 * Opens the run's shared Chromium, or a private one if the file runs alone. Each window has its own
 * storage, like a separate device. If translation is on, its problems appear in the console.
 */
export async function openBrowser({
  translates = process.env[TRANSLATION_SETTING] === '1',
} = {}): Promise<TestBrowser> {
  const address = process.env[BROWSER_SETTING];
  const own = address === undefined ? await launchChromium() : null;
  const browser = await chromium.connect(address ?? own?.wsEndpoint() ?? '');
  return {
    open: async (options = DESKTOP) => {
      const context = await browser.newContext({ ...LOCALE, ...options });
      if (translates) await translatePages(context);
      return watchedWindow(context);
    },
    close: async () => {
      await browser.close();
      await own?.close();
    },
  };
}

/** Adds a virtual authenticator with PRF that approves every request. */
export async function addVirtualPasskeys(window: TestWindow): Promise<CDPSession> {
  const session = await window.context.newCDPSession(window.page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      hasPrf: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return session;
}
