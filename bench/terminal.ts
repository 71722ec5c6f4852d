import { openSharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { openBrowser, PHONE } from '../web/testing/browser.ts';
import { askForPayment } from '../web/testing/payer.ts';
import {
  addTestTerminal,
  openTill,
  postAsMerchant,
  type TestTerminal,
  type TillWindow,
} from '../web/testing/till.ts';
import { median, percentile, report } from './report.ts';

/**
 * Measures the till as a cashier experiences it, in a real browser on the service's machine: the
 * time until it is ready, until it shows a payment that the merchant requests, and until it shows a
 * result.
 */
const LOADS = 9;
/** Number of newly opened tills that show a first payment. */
const FIRSTS = 15;
const INTENTS = Number(process.env.BENCH_INTENTS ?? 100);
const TAPS = 30;
/**
 * Pause before each measurement. Waiting for a block does not count: a tap is measured from the
 * service's response.
 */
const PAUSE_MS = 100;

/**
 * Records when something first becomes visible, by the page's own clock, because a measurement from
 * outside would include its round trip. `__told`: when the last tap's response arrived; `__found`:
 * when the poll returned the last payment.
 */
const WATCH = `
  window.__seen = {};
  window.__tapped = 0;
  window.__found = 0;
  const words = ['Pair', 'Create wallet', 'Show the QR code', 'Waiting for a pass', 'Paid'];
  const look = () => {
    for (const word of words) {
      const found = [...document.querySelectorAll('h1, button')]
        .some((element) => element.textContent.trim() === word);
      if (!found) delete window.__seen[word];
      else window.__seen[word] ??= { at: Date.now(), since: performance.now() };
    }
  };
  new MutationObserver(look).observe(document, { childList: true, subtree: true });
  const ask = window.fetch;
  window.fetch = async (...request) => {
    const response = await ask(...request);
    const url = String(request[0]);
    if (url.endsWith('/tap')) window.__tapped = performance.now();
    if (url.includes('/next') && response.status === 200) window.__found = Date.now();
    return response;
  };
`;

interface Seen {
  readonly at: number;
  readonly since: number;
}

function seen({ page }: Pick<TillWindow, 'page'>, word: string): Promise<Seen> {
  return page.evaluate(`window.__seen[${JSON.stringify(word)}]`);
}

const [{ sandbox, close }, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);

/** Measures from the first requested byte until a button works, with an empty cache. */
async function measureLoads(url: string, button: string): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < LOADS; i++) {
    const window = await browser.open(PHONE);
    await window.page.addInitScript(WATCH);
    await window.page.goto(url);
    await window.page.getByRole('button', { name: button, exact: true }).waitFor();
    took.push((await seen(window, button)).since);
    await window.close();
  }
  return took;
}

async function openWatched(terminal: TestTerminal): Promise<TillWindow> {
  const till = await openTill(browser, sandbox, { terminal, options: PHONE });
  await till.page.addInitScript(WATCH);
  await till.page.reload();
  await till.amount.waitFor();
  return till;
}

interface Shown {
  /**
   * Milliseconds from the merchant's request, including the create, until the screen shows the
   * amount.
   */
  readonly all: number;
  /** The part of that time after the till's poll returned. */
  readonly drawn: number;
}

async function measureIntent(till: TillWindow, terminal: TestTerminal): Promise<Shown> {
  await till.page.waitForTimeout(PAUSE_MS);
  const sentAt = Date.now();
  const sale = { amount: 2_500_000, terminal: terminal.id };
  const { id } = await postAsMerchant(sandbox, '/payment_intents', sale);
  await till.testPass.waitFor();
  const { at } = await seen(till, 'Waiting for a pass');
  const drawn = at - Number(await till.page.evaluate('window.__found'));
  await postAsMerchant(sandbox, `/payment_intents/${id}/cancel`);
  await till.newPayment.click();
  await till.amount.waitFor();
  return { all: at - sentAt, drawn };
}

async function measureIntents(till: TillWindow, terminal: TestTerminal): Promise<Shown[]> {
  const took: Shown[] = [];
  for (let i = 0; i < INTENTS; i++) took.push(await measureIntent(till, terminal));
  return took;
}

/** Measures first payments, for which a till renders its payment screens for the first time. */
async function measureFirsts(till: TillWindow, terminal: TestTerminal): Promise<Shown[]> {
  const took: Shown[] = [];
  for (let i = 0; i < FIRSTS; i++) {
    await till.page.reload();
    await till.amount.waitFor();
    took.push(await measureIntent(till, terminal));
  }
  return took;
}

async function measureResults(till: TillWindow): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < TAPS; i++) {
    await till.ask('2.50');
    await till.testPass.selectOption('ok');
    await till.result('Paid').waitFor();
    const told = Number(await till.page.evaluate('window.__tapped'));
    took.push((await seen(till, 'Paid')).since - told);
    await till.newPayment.click();
    await till.amount.waitFor();
  }
  return took;
}

const terminal = await addTestTerminal(sandbox);
const { url: link } = await askForPayment(sandbox, await addTestTerminal(sandbox));
const loads = await measureLoads(`${sandbox.web_url}/terminal`, 'Pair');
const walletLoads = await measureLoads(`${sandbox.web_url}/wallet`, 'Create wallet');
const payLoads = await measureLoads(link, 'Show the QR code');
const till = await openWatched(terminal);
const intents = await measureIntents(till, terminal);
const firsts = await measureFirsts(till, terminal);
const results = await measureResults(till);
const all = (shown: readonly Shown[]) => shown.map((one) => one.all);
const drawn = (shown: readonly Shown[]) => shown.map((one) => one.drawn);
const line = (work: string, took: readonly number[], target = '') => ({
  work,
  p50Ms: median(took),
  p99Ms: percentile(took, 0.99),
  target,
});
await report('terminal', [
  line('first load until it can be used', loads, 'p50 < 1000 ms'),
  line('the same of the wallet', walletLoads, 'p50 < 1000 ms'),
  line('the same of the pay page', payLoads, 'p50 < 1000 ms'),
  line("the merchant's request until the till shows it", all(intents), 'p99 < 100 ms'),
  line('of this, from the answer to its poll', drawn(intents)),
  line('the first one after a load', all(firsts), 'p99 < 100 ms'),
  line('of this, from the answer to its poll', drawn(firsts)),
  line('the answer to a tap until its result is shown', results, 'p99 <= 50 ms'),
]);
await browser.close();
await close();
process.exit(0);
