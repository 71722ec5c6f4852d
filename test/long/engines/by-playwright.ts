import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium, firefox, type Page } from 'playwright-core';
import { launchChromium } from '#testkit/network/chromium.ts';
import { type Engine, type Hands, labelOf, TIMEOUT_MS, until } from './hands.ts';

const WINDOW = { viewport: { width: 1280, height: 800 }, locale: 'en-US', timezoneId: 'UTC' };

/** Limits clicks to a modal dialog, because buttons behind it may have the same names. */
const REACHED = 'dialog:modal, body:not(:has(dialog:modal))';

function handsOn(first: Page): Hands {
  let page = first;
  page.context().setDefaultTimeout(TIMEOUT_MS);
  const field = (label: string) => page.getByLabel(labelOf(label));
  return {
    goto: async (url) => {
      await page.goto(url);
    },
    useLocale: async (locale) => {
      const browser = page.context().browser();
      await page.context().close();
      const context = await browser?.newContext({ ...WINDOW, locale });
      if (context === undefined) return false;
      context.setDefaultTimeout(TIMEOUT_MS);
      page = await context.newPage();
      return true;
    },
    resize: async (width) => {
      await page.setViewportSize({ ...WINDOW.viewport, width });
      return true;
    },
    click: (role, name) => page.locator(REACHED).getByRole(role, { name }).first().click(),
    clickAt: (selector) => page.locator(selector).first().click(),
    fill: async (label, text) => {
      // Types key by key, because text set in one step does not reach the page in Debian's Firefox.
      await field(label).press('ControlOrMeta+a');
      await field(label).pressSequentially(text);
    },
    choose: async (label, option) => {
      await field(label).selectOption({ label: option });
    },
    followNewWindow: async () => {
      page = await until('a second window', async () => page.context().pages()[1] ?? null);
    },
    sees: (text) => page.getByText(text).first().waitFor(),
    evaluate: (expression) => page.evaluate(expression),
    picture: async () => (await page.screenshot()).toString('base64'),
    close: () => page.context().close(),
  };
}

function engineOf(name: string, missing: string | null, launch: () => Promise<Browser>): Engine {
  let started: Promise<Browser> | null = null;
  return {
    name,
    missing,
    open: async () => {
      started ??= launch();
      const context = await (await started).newContext(WINDOW);
      return handsOn(await context.newPage());
    },
    close: async () => {
      await (await started)?.close();
    },
  };
}

export function chromiumEngine(): Engine {
  return engineOf('Chromium', null, async () => {
    const server = await launchChromium();
    const browser = await chromium.connect(server.wsEndpoint());
    // Closes the server, because the test process would otherwise wait for it.
    browser.once('disconnected', () => void server.close());
    return browser;
  });
}

const FIREFOX = process.env.ENGINES_FIREFOX ?? '/usr/bin/firefox-esr';

/** Debian's Firefox, through WebDriver BiDi. */
export function firefoxEngine(): Engine {
  const missing = existsSync(FIREFOX) ? null : `${FIREFOX} is missing (Debian: firefox-esr)`;
  return engineOf('Firefox', missing, () =>
    firefox.launch({
      channel: 'moz-firefox',
      executablePath: path.join(import.meta.dirname, 'firefox-answers.js'),
    }),
  );
}
