import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSharedSandbox, type SharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { openBrowser, PHONE, type TestBrowser, type TestWindow } from '../testing/browser.ts';
import { holdRequests, loseAnswers, loseRequests } from '../testing/network-faults.ts';
import { askForPayment, fundedAccount, injectWallet } from '../testing/payer.ts';
import { checkStill, measureFirstLoad } from '../testing/payload.ts';
import { addTestTerminal, paymentsOf, type TestTerminal } from '../testing/till.ts';

/** The pay page's limit, plus the code that waits for the till and verifies the chip. */
const BUDGET_BYTES = 94_000;
const PULLED = 2_511_250n;

let shared: SharedSandbox;
let browser: TestBrowser;

before(async () => {
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
});

after(async () => {
  await browser.close();
  await shared.close();
});

const payButton = ({ page }: TestWindow) => page.getByRole('button', { name: /^Pay / });
const waiting = ({ page }: TestWindow) =>
  page.getByRole('status').filter({ hasText: 'The till has not asked for a payment yet' });
const paid = ({ page }: TestWindow) =>
  page.getByRole('status').filter({ has: page.getByText('Paid', { exact: true }) });

async function openTag(terminal: TestTerminal, usdc = PULLED): Promise<TestWindow> {
  const window = await browser.open(PHONE);
  await injectWallet(window, shared.sandbox, await fundedAccount(shared.sandbox, usdc));
  await window.page.goto(terminal.tagUrl);
  return window;
}

test('a phone at the tag waits for the till, pays, and alone gets the receipt', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const [customer, onlooker] = [await openTag(terminal), await openTag(terminal)];
  await Promise.all([waiting(customer).waitFor(), waiting(onlooker).waitFor()]);
  await customer.checkAccessibility();
  const { id } = await askForPayment(sandbox, terminal, { order_id: 'SECRET-1' });
  await Promise.all([payButton(customer).waitFor(), payButton(onlooker).waitFor()]);
  await customer.checkAccessibility();
  assert.match((await payButton(customer).textContent()) ?? '', /^Pay 2\.51 USDC to .+$/);
  const words = (await customer.page.locator('body').textContent()) ?? '';
  for (const word of ['SECRET-1', id, 'Order']) assert.equal(words.includes(word), false, word);
  await payButton(customer).click();
  await paid(customer).waitFor();
  await waiting(onlooker).waitFor();
  const receipt = await customer.page.getByRole('link', { name: /^Receipt/ }).getAttribute('href');
  assert.match(receipt ?? '', /\/receipts\/[0-9A-Za-z]{22}$/);
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  customer.checkClean();
  await Promise.all([customer.close(), onlooker.close()]);
});

test('a phone at a chip tag sees the order, and its link works once', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const chip = await terminal.tagChip();
  const request = { order_id: 'ORDER-77', description: 'Two coffees' };
  await askForPayment(sandbox, terminal, request);
  const address = chip.tap();
  const window = await openTag(terminal);
  const { page } = window;
  await page.goto(address);
  await payButton(window).waitFor();
  await page.getByText('Two coffees').waitFor();
  await page.getByText('Order ORDER-77').waitFor();
  assert.equal(page.url(), terminal.tagUrl, 'the message leaves the address bar');
  await window.checkAccessibility();
  await page.reload();
  await page.getByText('Two coffees').waitFor();
  const other = await openTag(terminal);
  await other.page.goto(address);
  await payButton(other).waitFor();
  const words = (await other.page.locator('body').textContent()) ?? '';
  for (const word of ['Two coffees', 'ORDER-77']) assert.equal(words.includes(word), false, word);
  await payButton(window).click();
  await paid(window).waitFor();
  window.checkClean();
  await Promise.all([window.close(), other.close()]);
});

test('a page that is reloaded while it waits for the result still gets it', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  await askForPayment(sandbox, terminal);
  const window = await openTag(terminal, PULLED * 2n);
  const { page } = window;
  const lost = await loseAnswers(page, /\/authorization$/);
  await payButton(window).click();
  await page.getByText('Checking…').waitFor();
  while (lost.met === 0) await page.waitForTimeout(50);
  await page.reload();
  await lost.end();
  await paid(window).waitFor();
  await page.getByRole('link', { name: /^Receipt/ }).waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await window.close();
});

test('a page that is reloaded on an unstable network still gets the result', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  await askForPayment(sandbox, terminal);
  const window = await openTag(terminal);
  const { page } = window;
  const lost = await loseAnswers(page, /\/authorization$/);
  await payButton(window).click();
  while (lost.met === 0) await page.waitForTimeout(50);
  const reads = await loseRequests(page, /\/tags\/[^/?]+\?payment=/);
  await page.reload();
  while (reads.met < 2) await page.waitForTimeout(50);
  const held = await holdRequests(page, /\/tags\/[^/?]+\?payment=/);
  await reads.end();
  while (held.met === 0) await page.waitForTimeout(50);
  await lost.end();
  // Lets the first response arrive; the next request finds no network.
  await page.evaluate(() => {
    Object.defineProperty(navigator, 'onLine', { configurable: true, value: false });
    setTimeout(() => Reflect.deleteProperty(navigator, 'onLine'), 3_000);
  });
  await held.end();
  await paid(window).waitFor();
  await page.getByRole('link', { name: /^Receipt/ }).waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await window.close();
});

test('the first load of a tag is small', async () => {
  const terminal = await addTestTerminal(shared.sandbox);
  const window = await browser.open();
  const bytes = await measureFirstLoad(window, terminal.tagUrl);
  assert.ok(bytes > 10_000, 'something was measured');
  assert.ok(bytes <= BUDGET_BYTES, `${bytes} bytes`);
  await checkStill(window);
  await window.close();
});
