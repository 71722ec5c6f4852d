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
import { BROWSER_SETTING, launchChromium } from '#testing/chromium.ts';
import { checkNamedControls } from './named-controls.ts';
import { checkPlainWords } from './plain-words.ts';
import { TRANSLATION_SETTING, translatePages } from './translation.ts';

/** A window of a browser that notes whatever went wrong in it. */
export interface TestWindow {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Errors of the console, uncaught ones, and what the page's policy has stopped. */
  readonly problems: readonly string[];
  /** Waits until the page has asked for nothing, and waited for nothing, for half a second. */
  idle(): Promise<void>;
  /**
   * Fails with axe's words when it finds something serious or critical, and with each visible text
   * that only programs understand, except on pages for those who write them. Rows of tables that
   * are positioned fail, too.
   */
  checkAccessibility(): Promise<void>;
  /** Fails when the console was not clean, apart from what a broken network makes it say. */
  checkClean(mayBe?: RegExp): void;
  close(): Promise<void>;
}

export interface TestBrowser {
  open(options?: BrowserContextOptions): Promise<TestWindow>;
  close(): Promise<void>;
}

/** Sizes that every journey is looked at in. */
export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
export const DESKTOP = { viewport: { width: 1280, height: 800 } };
/** The narrowest screen that WCAG 2.2 asks for (1.4.10). */
export const NARROW = { viewport: { width: 320, height: 640 }, isMobile: true, hasTouch: true };

const axeSource = readFileSync(new URL(import.meta.resolve('axe-core')), 'utf8');

interface AxeFinding {
  readonly id: string;
  readonly impact: string | null;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Colors are judged after their transitions. Animations that never end are not waited for. */
const SETTLED = `Promise.all(document.getAnimations()
  .filter(({ effect }) => effect?.getComputedTiming().iterations !== Infinity)
  .map(({ finished }) => finished.catch(() => {}))).then(() => {})`;

async function seriousFindings(page: Page): Promise<string[]> {
  await page.evaluate(SETTLED);
  // By the debugger's own way in: the page's policy stops any script that a test adds to it.
  const found = (await page.evaluate(
    `(() => { ${axeSource}; return axe.run(document, { resultTypes: ['violations'] })
      .then((results) => results.violations); })()`,
  )) as readonly AxeFinding[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, help, nodes }) =>
      nodes.map((node) => `${id}: ${help}\n  ${node.html}\n  ${node.failureSummary ?? ''}`),
    );
}

/** WebKit positions nothing in them: what is stretched over a row covers the whole window there. */
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

/** Playwright's `networkidle` never comes on a page that follows a feed: a feed has no end. */
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

/**
 * The run's one Chromium, or one of its own where a file is run by itself. Each window has its own
 * storage, as another device would. A browser that translates says in the console what is wrong.
 */
export async function openBrowser({
  translates = process.env[TRANSLATION_SETTING] === '1',
} = {}): Promise<TestBrowser> {
  const address = process.env[BROWSER_SETTING];
  const own = address === undefined ? await launchChromium() : null;
  const browser = await chromium.connect(address ?? own?.wsEndpoint() ?? '');
  return {
    open: async (options = DESKTOP) => {
      // Chromium names its language `en-US@posix` here, which Intl does not know.
      const context = await browser.newContext({ locale: 'en-US', timezoneId: 'UTC', ...options });
      if (translates) await translatePages(context);
      const page = await context.newPage();
      const problems: string[] = [];
      watch(page, problems);
      const idle = followTraffic(page);
      context.on('page', (other) => watch(other, problems));
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
        checkClean: (mayBe) =>
          assert.deepEqual(
            problems.filter((problem) => mayBe?.test(problem) !== true),
            [],
          ),
        close: () => context.close(),
      };
    },
    close: async () => {
      await browser.close();
      await own?.close();
    },
  };
}

/** An authenticator in software, with PRF; it says yes to everything. */
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
