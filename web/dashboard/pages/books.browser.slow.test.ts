import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCsv, parseJsonl } from '#testkit/fixtures/payments/books.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { DESKTOP, type TestWindow } from '../../testing/browser.ts';
import { payAt, textOf } from '../../testing/desk.ts';
import { freePort } from '../../testing/free-port.ts';
import { openSignedIn, setUpFactor } from '../../testing/signed-in.ts';
import { ownStage } from '../../testing/stage.ts';
import { addTestTerminal, openTill, postAsMerchant } from '../../testing/till.ts';

/**
 * Tests statements, automatic payouts, schedules and the end of a shift, in a private sandbox: a
 * second factor and a moved clock would break other tests.
 */

const DAY_SECONDS = 86_400;
/** Set `BOOKS_PICTURES=folder` to save screenshots of three widths. */
const PICTURES = process.env.BOOKS_PICTURES;
const WIDTHS = [390, 820, 1440];

const stage = ownStage(undefined, async () => ({ PORT: await freePort() }));

async function openBalance(options: object = DESKTOP): Promise<TestWindow> {
  const window = await openSignedIn(stage(), 'dashboard/balance', options);
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
  const clock = await fetch(`${stage().sandbox.base_url}/v1/test_helpers/clock`, {
    headers: { Authorization: `Bearer ${stage().sandbox.test.secret_key}` },
  });
  return ((await clock.json()) as { now: string }).now.slice(0, 10);
}

test('the statement of a period is downloaded, also if the connection breaks', async () => {
  const { sandbox } = stage();
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
    // The first response breaks off in the middle, as if a proxy had ended it.
    const body = answers++ === 0 ? whole.slice(0, whole.indexOf('\n') + 1) : whole;
    await route.fulfill({ response: answer, body });
  });
  const { name, text } = await download(window);
  await page.unroute('**/exports/statement?*');
  assert.equal(answers, 2);
  assert.match(name, new RegExp(`^tapline-acct_\\w+-jsonl-${day}-${day}\\.jsonl$`));
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
  await window.closeClean();
});

/** Checks a page's accessibility, and that its content fits at 320 pixels. */
async function checkNarrow(window: TestWindow): Promise<void> {
  const { page } = window;
  await page.setViewportSize({ width: 320, height: 800 });
  const width = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(width <= 320, `the page is ${width} pixels wide`);
  await window.checkAccessibility();
  await page.setViewportSize(DESKTOP.viewport);
  await window.checkAccessibility();
}

test('automatic payouts need a second factor, are paid, and are in the shift totals', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal, options: DESKTOP });
  const coffee = { name: 'Coffee', quantity: 1, unit_amount: 25_000_000, tax_rate: 1_900 };
  const sale = { amount: 24_000_000, line_items: [{ ...coffee, discount: 1_000_000 }] };
  await postAsMerchant(sandbox, '/payment_intents', { ...sale, terminal: terminal.id });
  await till.testPass.selectOption('ok');
  await till.result('Paid').waitFor();
  const window = await openBalance();
  const { page } = window;
  await page.getByLabel('Automatic payouts').selectOption('daily');
  await page.getByRole('button', { name: 'Save payouts' }).click();
  await setUpFactor(page.getByRole('dialog'), sandbox.dashboard.password);
  await page.getByText('Automatic payouts were enabled after this period').waitFor();
  await page.getByLabel('Scheduled statements').selectOption('week');
  await page.getByLabel('Send the link to').fill('books@accountant.example');
  const saved = page.waitForResponse((answer) => answer.request().method() === 'PATCH');
  await page.getByRole('button', { name: 'Save schedule' }).click();
  assert.equal((await saved).status(), 200);
  await page.reload();
  await page.getByLabel('Scheduled statements').waitFor();
  assert.equal(await page.getByLabel('Automatic payouts').inputValue(), 'daily');
  assert.equal(await page.getByLabel('Scheduled statements').inputValue(), 'week');
  assert.equal(await page.getByLabel('Send the link to').inputValue(), 'books@accountant.example');
  await postAsMerchant(sandbox, '/test_helpers/clock/advance', { seconds: DAY_SECONDS });
  await eventually('the period is paid', async () => {
    await page.reload();
    await page.getByRole('heading', { name: 'At the end of a period' }).waitFor();
    return (await page.getByText('Payout requested').count()) > 0;
  });
  await page.getByLabel('Period').selectOption('payout');
  const payout = page.getByLabel('Payout', { exact: true });
  await eventually('the payout can be chosen', async () => {
    return (await payout.locator('option').count()) > 1;
  });
  await payout.selectOption({ index: 1 });
  const { text } = await download(window);
  assert.equal(parseCsv(text).at(-2)?.[1], 'payout');
  await checkNarrow(window);
  await picture(window, 'schedule');
  await till.newPayment.click();
  await till.page.getByRole('link', { name: 'Totals' }).click();
  const parts = [/^Sales/, /^Tips/, /^Refunds/, /^Tax 19/, /^Discounts/, /^Payouts/];
  const rows = parts.map((name) => till.page.getByText(name).first());
  for (const row of rows) await row.waitFor();
  await checkNarrow(till);
  await picture(till, 'shift');
  await till.page.emulateMedia({ media: 'print' });
  for (const row of rows) assert.equal(await row.isVisible(), true);
  assert.equal(await till.page.getByRole('button', { name: 'Print' }).isVisible(), false);
  if (PICTURES !== undefined) await till.page.pdf({ path: `${PICTURES}/shift.pdf` });
  await till.close();
  await window.closeClean(/status of 403/);
});
