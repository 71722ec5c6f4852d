import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { contentOf, recordsOf } from '../../data/ndef.ts';
import { PHONE } from '../../testing/browser.ts';
import { payAt, textOf } from '../../testing/desk.ts';
import { openSignedIn } from '../../testing/signed-in.ts';
import { sharedStage } from '../../testing/stage.ts';
import { addTestTerminal, postAsMerchant } from '../../testing/till.ts';

/**
 * Follows links from a figure to the rows behind it and from an id to its page, and exports a file.
 */

const stage = sharedStage();

test('a click on a day with failed calls opens the list of these calls', async () => {
  const { sandbox } = stage();
  const reply = await fetch(`${sandbox.base_url}/v1/payments/pay_nothing`, {
    headers: { Authorization: `Bearer ${sandbox.test.secret_key}` },
  });
  const id = reply.headers.get('request-id') ?? '';
  const window = await openSignedIn(stage(), 'dashboard');
  const { page } = window;
  const today = page.getByRole('link', { name: /: [1-9]\d* failed calls?$/ });
  // The request log is written shortly after the response.
  await eventually('the call is counted', async () => {
    if ((await today.count()) > 0) return true;
    await page.reload();
    await page.getByRole('heading', { name: 'API calls that failed' }).waitFor();
    return (await today.count()) > 0;
  });
  await window.checkAccessibility();
  await today.click();
  await page.getByRole('heading', { name: 'Request log' }).waitFor();
  await page.getByRole('table', { name: 'Requests' }).waitFor();
  await page.getByRole('link', { name: id }).waitFor();
  const statuses = await page.locator('td[data-name=Status]').allInnerTexts();
  assert.ok(statuses.length > 0 && statuses.every((text) => Number(text) >= 400), `${statuses}`);
  await window.closeClean();
});

test('arrow keys move along the sales chart, which names each day of the period', async () => {
  const { sandbox } = stage();
  await payAt(sandbox, { terminal: sandbox.test.terminal, amount: 2_500_000 });
  const window = await openSignedIn(stage(), 'dashboard');
  const { page } = window;
  const bars = page
    .locator('.chart')
    .first()
    .getByRole('link', { name: /payments?, .* USDC/ });
  await bars.nth(29).waitFor();
  assert.equal(await bars.count(), 30);
  const today = bars.last();
  assert.match((await today.getAttribute('aria-label')) ?? '', /: [1-9]\d* payments?, /);
  // If no request and no delivery failed, only the sales chart is shown.
  const charts = await page.locator('.chart').count();
  const stops = await page.locator('.chart a[tabindex="0"]').count();
  assert.equal(stops, charts, 'one stop in each chart');
  await today.focus();
  await page.keyboard.press('ArrowLeft');
  await bars.nth(28).and(page.locator(':focus')).waitFor();
  const label = await bars.nth(28).getAttribute('aria-label');
  assert.equal(await page.locator('.chart-said').first().textContent(), label);
  await page.keyboard.press('Home');
  await bars.first().and(page.locator(':focus')).waitFor();
  await page.getByRole('button', { name: '7 days', exact: true }).click();
  await page.waitForURL(/days=7/);
  await page.getByRole('heading', { name: 'The last 7 days' }).waitFor();
  assert.equal(await bars.count(), 7);
  await today.hover();
  assert.match(
    (await page.locator('.chart-said').first().textContent()) ?? '',
    /[1-9]\d* payments?/,
  );
  await today.click();
  await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor();
  await window.closeClean();
});

test('declined payments are found by their cause', async () => {
  const { sandbox } = stage();
  const { terminal } = sandbox.test;
  const pass = 'insufficient_funds';
  const { intent } = await payAt(sandbox, { terminal, amount: 2_000_000, pass });
  const window = await openSignedIn(stage(), 'dashboard/intents', PHONE);
  const { page } = window;
  await page.getByLabel('Decline reason').selectOption('insufficient_funds');
  await page.waitForURL(/decline=insufficient_funds/);
  await page.getByRole('link', { name: intent }).waitFor();
  // The unfiltered rows stay on screen until the filtered ones have arrived.
  const cells = page.locator('td[data-name="Last decline"]');
  await cells.filter({ hasNotText: 'Not enough money' }).first().waitFor({ state: 'hidden' });
  const causes = await cells.allInnerTexts();
  assert.deepEqual([...new Set(causes)], ['Not enough money']);
  await window.checkAccessibility();
  await window.closeClean();
});

test('the command bar opens an object by its ID, and a page by its name', async () => {
  const { sandbox } = stage();
  const { terminal } = sandbox.test;
  const { payment, intent } = await payAt(sandbox, { terminal, amount: 2_100_000 });
  const window = await openSignedIn(stage(), 'dashboard');
  const { page } = window;
  for (const [typed, title] of [
    [payment, 'Payment'],
    [intent, 'Intent'],
    [terminal, 'Terminal'],
    [sandbox.account, 'Settings'],
    ['request log', 'Request log'],
    ['withdraw', 'Balance'],
  ] as const) {
    await page.locator('h1').click();
    await page.keyboard.press('Control+k');
    await page.keyboard.type(typed);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: title, level: 1 }).waitFor();
  }
  // In test mode, the ID of a live terminal leads to a page that offers to switch to live mode.
  const field = page.getByRole('searchbox', { name: 'Go to' }).or(page.getByLabel('Go to'));
  await field.first().fill(sandbox.live.terminal);
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Open in live mode' }).click();
  await page.getByRole('heading', { name: 'Terminal', level: 1 }).waitFor();
  assert.equal(await page.getByRole('switch', { name: 'Test mode' }).isChecked(), false);
  await window.closeClean();
});

test('an export that breaks off continues after its last row', async () => {
  const { sandbox } = stage();
  const { terminal } = sandbox.test;
  for (let i = 0; i < 3; i++) await payAt(sandbox, { terminal, amount: 1_000_000 + i });
  const window = await openSignedIn(stage(), 'dashboard/payments');
  const { page } = window;
  let answers = 0;
  let whole = '';
  await page.route('**/exports/payments*', async (route) => {
    const response = await route.fetch();
    const body = await response.text();
    answers++;
    if (answers > 1) return route.fulfill({ response, body });
    whole = body;
    // Cuts the response in the middle of a row, as a lost connection would.
    return route.fulfill({ response, body: body.slice(0, body.indexOf('\r\n', 500) + 20) });
  });
  await page.getByRole('button', { name: 'Export' }).click();
  const dialog = page.getByRole('dialog');
  const coming = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Download' }).click();
  const download = await coming;
  await dialog.getByText('Download complete').waitFor();
  await window.checkAccessibility();
  const text = await textOf(download);
  // Ignores sales that other tests add above the first row during this test.
  assert.equal(text, whole);
  assert.equal(answers, 2);
  assert.match(download.suggestedFilename(), /^tapline-test-payments-.*\.csv$/);
  await window.closeClean();
});

test('a sale at a till can be paid without a device, by simulating the customer', async () => {
  const { sandbox } = stage();
  const { id: terminal } = await addTestTerminal(sandbox, 'Played');
  const window = await openSignedIn(stage(), `dashboard/terminals/${terminal}`, PHONE);
  const { page } = window;
  await page.getByRole('button', { name: 'Test tap' }).click();
  await page.getByText(/no open payment intent/).waitFor();
  await postAsMerchant(sandbox, '/payment_intents', { amount: 2_500_000, terminal });
  await page.getByRole('button', { name: 'Test tap' }).click();
  await page.getByRole('link', { name: /^pay_/ }).click();
  await page.getByRole('heading', { name: 'Payment', level: 1 }).waitFor();
  await window.checkAccessibility();
  await window.closeClean(/status of 409/);
});

test('a tag’s files can be saved: bytes for a sticker, a QR code, a table card', async () => {
  const { sandbox } = stage();
  const { id, tagUrl } = await addTestTerminal(sandbox, 'Window');
  const window = await openSignedIn(stage(), `dashboard/terminals/${id}`, PHONE);
  const { page } = window;
  const save = async (name: string) => {
    const coming = page.waitForEvent('download');
    await page.getByRole('button', { name }).click();
    const download = await coming;
    const bytes = await buffer(await download.createReadStream());
    return { name: download.suggestedFilename(), bytes };
  };
  const ndef = await save('Download the NDEF file');
  assert.equal(ndef.name, `tag-${id}.ndef`);
  assert.deepEqual(recordsOf(ndef.bytes)?.map(contentOf), [tagUrl]);
  const shown = await page.getByRole('textbox', { name: 'NDEF bytes' }).inputValue();
  assert.equal(shown, ndef.bytes.toString('hex'));
  const png = await save('Download the QR code (PNG)');
  assert.equal(png.bytes.subarray(1, 4).toString(), 'PNG');
  const card = await save('Download the table card (PDF)');
  assert.equal(card.name, `tag-${id}.pdf`);
  assert.ok(card.bytes.includes(`/URI (${tagUrl})`));
  await window.checkAccessibility();
  await window.closeClean();
});
