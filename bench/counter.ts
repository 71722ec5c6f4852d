import type { Page } from 'playwright-core';
import { openSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { addVirtualPasskeys, openBrowser, PHONE } from '../web/testing/browser.ts';
import { askForPayment } from '../web/testing/payer.ts';
import { addTestTerminal, openTill, postAsMerchant } from '../web/testing/till.ts';
import { fundWallet, walletOf } from '../web/testing/wallet.ts';
import { median, percentile, report } from './report.ts';

/**
 * Measures how long a customer waits at a counter, in a real browser on the service's machine:
 * until the tag's page shows the till's request, how much time the till adds to a tap, and how long
 * a customer without a wallet takes.
 */
const CHARGES = Number(process.env.BENCH_INTENTS ?? 100);
const TAPS = 30;
const NEWCOMERS = 5;
const PULLED = '2.51125';

const [{ sandbox, close }, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);

/**
 * Measures with the page's own clock, because a measurement from outside would include its round
 * trip.
 */
const WATCH = `
  window.__seen = {};
  const look = () => {
    const words = { charge: /^2\\.50/, paid: /^Paid$/, waits: /has not asked for money yet/ };
    for (const [name, word] of Object.entries(words)) {
      const found = [...document.querySelectorAll('h1, h2, strong, p, span')]
        .some(({ textContent }) => word.test(textContent.trim()));
      if (!found) delete window.__seen[name];
      else window.__seen[name] ??= { at: Date.now(), since: performance.now() };
    }
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
  addEventListener('change', () => { window.__read = performance.now(); }, true);
  const ask = window.fetch;
  window.fetch = async (...request) => {
    const isTap = String(request[0]).endsWith('/tap');
    if (isTap) window.__sent = performance.now();
    const response = await ask(...request);
    if (isTap) window.__tapped = performance.now();
    return response;
  };
`;

interface Seen {
  readonly at: number;
}

/** Polls the page through the debugger, because the page's CSP blocks every other way. */
async function seen(page: Page, name: 'charge' | 'waits'): Promise<Seen> {
  for (;;) {
    const current = (await page.evaluate(`window.__seen.${name} ?? null`)) as Seen | null;
    if (current !== null) return current;
    await page.waitForTimeout(5);
  }
}

/** Measures from the charge's response until the page of the terminal's tag shows the charge. */
async function measureTag(): Promise<number[]> {
  const terminal = await addTestTerminal(sandbox);
  const { page, close: closeTag } = await browser.open(PHONE);
  await page.addInitScript(WATCH);
  const took: number[] = [];
  for (let i = 0; i < CHARGES; i++) {
    await page.goto(terminal.tagUrl);
    await seen(page, 'waits');
    const sale = { amount: 2_500_000, terminal: terminal.id };
    const { id } = await postAsMerchant(sandbox, '/payment_intents', sale);
    const charged = Date.now();
    const { at } = await seen(page, 'charge');
    took.push(Math.max(0, at - charged));
    await postAsMerchant(sandbox, `/payment_intents/${id}/cancel`);
  }
  await closeTag();
  return took;
}

/**
 * Measures the till's share of a tap: from reading the pass until the request is sent, and from the
 * response until `Paid` is shown.
 */
async function measureTaps(): Promise<number[]> {
  const terminal = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal, options: PHONE });
  await till.page.addInitScript(WATCH);
  await till.page.reload();
  const took: number[] = [];
  for (let i = 0; i < TAPS; i++) {
    await till.ask('2.50');
    await till.testPass.selectOption('ok');
    await till.result('Paid').waitFor();
    const part = 'window.__sent - window.__read + window.__seen.paid.since - window.__tapped';
    took.push(Number(await till.page.evaluate(part)));
    await till.newPayment.click();
  }
  await till.close();
  return took;
}

/**
 * Measures from the first paint of the pay page until a new customer has a wallet with a passkey
 * and test USDC and has paid.
 */
async function measureNewcomer(): Promise<number> {
  const { url } = await askForPayment(sandbox, await addTestTerminal(sandbox));
  const wallet = walletOf(await browser.open(PHONE));
  await addVirtualPasskeys(wallet);
  const { page } = wallet;
  // Uses a host name, because passkeys belong to a host name and browsers refuse IP addresses.
  await page.goto(url.replace('127.0.0.1', 'localhost'));
  await page.getByRole('link', { name: 'Make a wallet' }).waitFor();
  const paint =
    'performance.timeOrigin + performance.getEntriesByName("first-paint")[0]?.startTime';
  const painted = Number(await page.evaluate(paint));
  if (Number.isNaN(painted)) throw new Error('The browser names no first paint.');
  await page.getByRole('link', { name: 'Make a wallet' }).click();
  await wallet.button(/^Create wallet/).click();
  await wallet.button(/^Use a passkey/).click();
  await fundWallet(wallet);
  await page.getByRole('link', { name: 'Back to the payment' }).click();
  await page.getByRole('button', { name: new RegExp(`^Pay ${PULLED}`) }).click();
  await page.getByText('Paid', { exact: true }).first().waitFor();
  const took = Date.now() - painted;
  await wallet.close();
  return took;
}

const tag = await measureTag();
const taps = await measureTaps();
const newcomers: number[] = [];
for (let i = 0; i < NEWCOMERS; i++) newcomers.push(await measureNewcomer());
const line = (work: string, took: readonly number[], target: string) => ({
  work,
  p50Ms: median(took),
  p99Ms: percentile(took, 0.99),
  target,
});
await report('counter', [
  line("a charge until the tag's page shows it", tag, 'p99 <= 300 ms'),
  line('read until Paid, beside the settlement', taps, 'p99 <= 150 ms'),
  line('first paint until paid, with a new passkey wallet', newcomers, 'p99 <= 30000 ms'),
]);
await browser.close();
await close();
process.exit(0);
