import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { parseCsv, parseJsonl } from '#testing/books.ts';
import { type SharedSandbox, startSharedSandbox } from '#testing/shared-sandbox.ts';
import { DESKTOP, openBrowser, type TestBrowser, type TestWindow } from '../../testing/browser.ts';
import { payAt, signInAt, textOf } from '../../testing/desk.ts';
import { freePort } from '../../testing/free-port.ts';

/** Downloads statements, in a private sandbox, because a statement has all sales of an account. */

/** Set `BOOKS_PICTURES=folder` to save screenshots of three widths. */
const PICTURES = process.env.BOOKS_PICTURES;
const WIDTHS = [390, 820, 1440];

let own: SharedSandbox;
let browser: TestBrowser;

before(async () => {
  const started = startSharedSandbox({ PORT: await freePort() });
  [own, browser] = await Promise.all([started, openBrowser()]);
});

after(async () => {
  await browser.close();
  await own.close();
});

async function openBalance(options: object = DESKTOP): Promise<TestWindow> {
  const window = await browser.open(options);
  await signInAt(window, { sandbox: own.sandbox, path: 'dashboard/balance' });
  await window.page.getByRole('heading', { name: 'Statements' }).waitFor();
  return window;
}

async function picture({ page }: TestWindow, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.screenshot({ path: `${PICTURES}/${name}-${width}.png`, fullPage: true });
  }
  await page.setViewportSize(DESKTOP.viewport);
}

async function download({ page }: TestWindow): Promise<{ name: string; text: string }> {
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download statement' }).click();
  const file = await coming;
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Download complete').waitFor();
  await dialog.getByRole('button', { name: 'Done' }).click();
  return { name: file.suggestedFilename(), text: await textOf(file) };
}

async function today(): Promise<string> {
  const clock = await fetch(`${own.sandbox.base_url}/v1/test_helpers/clock`, {
    headers: { Authorization: `Bearer ${own.sandbox.test.secret_key}` },
  });
  return ((await clock.json()) as { now: string }).now.slice(0, 10);
}

test('the statement of some days is downloaded, also over a broken line', async () => {
  const { sandbox } = own;
  await payAt(sandbox, { terminal: sandbox.test.terminal, amount: 25_000_000 });
  const window = await openBalance();
  const { page } = window;
  await page.getByLabel('Period').selectOption('days');
  const day = await today();
  await page.getByLabel('From', { exact: true }).fill(day);
  await page.getByLabel('To', { exact: true }).fill(day);
  await page.getByLabel('File format').first().selectOption('jsonl');
  await picture(window, 'statement-days');
  let answers = 0;
  await page.route('**/exports/statement?*', async (route) => {
    const answer = await route.fetch();
    const whole = await answer.text();
    // The first response ends in the middle, as behind a proxy that gives up.
    const body = answers++ === 0 ? whole.slice(0, whole.indexOf('\n') + 1) : whole;
    await route.fulfill({ response: answer, body });
  });
  const { name, text } = await download(window);
  await page.unroute('**/exports/statement?*');
  assert.equal(answers, 2);
  assert.equal(name, `tapline-test-statement-${day}-${day}.jsonl`);
  const { head, entries } = parseJsonl(text);
  assert.ok(entries.some(({ amount }) => amount === 25_000_000));
  assert.equal(
    entries.reduce((sum, { amount }) => sum + amount, head.opening_balance),
    head.closing_balance,
  );
  await page.getByLabel('Period').selectOption('month');
  await page.getByLabel('Month', { exact: true }).fill(day.slice(0, 7));
  await page.getByLabel('File format').first().selectOption('csv');
  const month = await download(window);
  assert.equal(parseCsv(month.text).at(-1)?.[1], 'closing_balance');
  await window.checkAccessibility();
  window.checkClean();
  await window.close();
});
