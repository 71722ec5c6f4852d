import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { LANGUAGES } from '#i18n/languages.ts';
import { DESKTOP, type TestWindow } from '../../web/testing/browser.ts';
import { payAt, signInAt } from '../../web/testing/desk.ts';
import { askForPayment } from '../../web/testing/payer.ts';
import { measureFirstLoad } from '../../web/testing/payload.ts';
import { sharedStage } from '../../web/testing/stage.ts';
import { addTestTerminal, openTill } from '../../web/testing/till.ts';
import { createWallet, openWallet } from '../../web/testing/wallet.ts';

/** First loads in every language (behavior.md 21.6): the texts of a language are part of them. */

/** Budgets in bytes. A tag's page has a limit in its own test. */
const BUDGETS = {
  '/': 10_000,
  receipt: 10_000,
  'terminal, not paired': 110_000,
  terminal: 110_000,
  pay: 110_000,
  tag: 93_000,
  'wallet, none yet': 130_000,
  wallet: 130_000,
  'dashboard, signing in': 130_000,
  dashboard: 130_000,
} as const;
type Page = keyof typeof BUDGETS;

/** Blocks service workers, whose cache would hide bytes from the count. */
const OPTIONS = { ...DESKTOP, serviceWorkers: 'block' } as const;

const stage = sharedStage();

async function measureIn(language: string, window: TestWindow, url: string): Promise<number> {
  const address = new URL(url);
  // Pages for customers take the language from the address, the others from the cookie.
  address.searchParams.set('lang', language);
  const cookie = { name: 'tapline_language', value: language, url: address.origin };
  await window.context.addCookies([cookie]);
  return measureFirstLoad(window, address.href);
}

/** Opens a window for each page, in its usual state for the people who load it. */
async function openPages(): Promise<(readonly [Page, string, TestWindow])[]> {
  const { sandbox, browser } = stage();
  const { web_url: web } = sandbox;
  const bare = () => browser.open(OPTIONS);
  const terminal = await addTestTerminal(sandbox);
  // The till gets a different terminal, because it would show the open payment of this one.
  const other = await addTestTerminal(sandbox);
  const { url: link } = await askForPayment(sandbox, terminal);
  const { payment } = await payAt(sandbox, { terminal: terminal.id, amount: 2_500_000 });
  const read = { headers: { Authorization: `Bearer ${sandbox.test.secret_key}` } };
  const paid = await fetch(`${sandbox.base_url}/v1/payments/${payment}`, read);
  const { receipt_url: receipt } = (await paid.json()) as { receipt_url: string };
  const desk = await bare();
  await signInAt(desk, { sandbox, path: 'dashboard' });
  const wallet = await openWallet(browser, sandbox, OPTIONS);
  await createWallet(wallet);
  const till = await openTill(browser, sandbox, { terminal: other, options: OPTIONS });
  return [
    ['/', web, await bare()],
    ['receipt', receipt, await bare()],
    ['terminal, not paired', `${web}/terminal`, await bare()],
    ['terminal', `${web}/terminal`, till],
    ['pay', link, await bare()],
    ['tag', terminal.tagUrl, await bare()],
    ['wallet, none yet', `${web}/wallet`, await bare()],
    ['wallet', `${web}/wallet`, wallet],
    ['dashboard, signing in', `${web}/dashboard`, await bare()],
    ['dashboard', `${web}/dashboard`, desk],
  ];
}

test('first loads stay within their budgets in every language', async (t: TestContext) => {
  const pages = await openPages();
  const over: string[] = [];
  for (const [page, url, window] of pages) {
    const sizes: string[] = [];
    for (const language of LANGUAGES) {
      const bytes = await measureIn(language, window, url);
      const result = await window.page.locator('html').getAttribute('lang');
      if (!page.startsWith('dashboard')) assert.equal(result, language, page);
      assert.ok(bytes > 1_000, `something was measured: ${page}`);
      sizes.push(`${language} ${(bytes / 1_000).toFixed(1)}`);
      if (bytes > BUDGETS[page]) over.push(`${page} in ${language}: ${bytes} bytes`);
    }
    t.diagnostic(`${page}: ${sizes.join(', ')} kB`);
    await window.close();
  }
  assert.deepEqual(over, []);
});
