import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Route } from 'playwright-core';
import { DESKTOP, looksToRun, NARROW, PHONE } from '../../testing/browser.ts';
import { CAFE_SALE, payAt, signInAt } from '../../testing/desk.ts';
import { checkFits } from '../../testing/page-width.ts';
import { openSignedIn } from '../../testing/signed-in.ts';
import { sharedStage } from '../../testing/stage.ts';
import { addTestTerminal, postAsMerchant, type TestTerminal } from '../../testing/till.ts';

let terminal: TestTerminal;

const stage = sharedStage(async ({ sandbox }) => {
  terminal = await addTestTerminal(sandbox, 'Counter by the window with a long name');
});

const LOOKS = [
  { name: 'phone, dark', options: { ...PHONE, colorScheme: 'dark' as const }, hasFont: true },
  { name: 'desktop, light', options: { ...DESKTOP, colorScheme: 'light' as const }, hasFont: true },
  // Simulates a slow network on which the web font does not load, so that the page keeps the
  // smaller system font.
  { name: '320 px, without the font', options: NARROW, hasFont: false },
];

for (const { name, options, hasFont } of looksToRun(LOOKS)) {
  test(`a payment is found, read, and partly refunded: ${name}`, async () => {
    const { sandbox, browser } = stage();
    const paid = await payAt(sandbox, { terminal: terminal.id, amount: 4_350_000 });
    const window = await browser.open(options);
    const { page } = window;
    if (!hasFont) await page.route(/\.woff2$/, (route) => route.abort());
    await signInAt(window, { sandbox, path: `dashboard/payments?terminal=${terminal.id}` });
    await page.getByRole('heading', { name: 'Payments' }).waitFor();
    const search = page.getByRole('textbox', { name: 'Search' });
    const link = page.getByRole('link', { name: paid.payment });
    await search.fill('4,350');
    await search.press('Enter');
    await page.getByText('Write 4350 or 4.35', { exact: true }).waitFor();
    await search.fill('4,35');
    await search.press('Enter');
    await link.waitFor();
    await search.fill(paid.orderId);
    await search.press('Enter');
    await link.waitFor();
    await page.waitForURL(/search=\w+$/);
    await window.checkAccessibility();
    assert.equal(await page.getByRole('link', { name: /^pay_/ }).count(), 1);
    await link.click();
    await page.getByText('Customer tapped').waitFor();
    await page.getByText('Paid on the chain').waitFor();
    await page.getByText('payment_intent.succeeded').waitFor();
    assert.match(page.url(), new RegExp(`/dashboard/payments/${paid.payment}$`));
    await window.checkAccessibility();

    await page.getByRole('button', { name: /^Refund/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('5');
    await dialog.getByRole('button', { name: /^Refund/ }).click();
    await dialog.getByText('At most 4.35 USDC can be refunded.').waitFor();
    await window.checkAccessibility();
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('1,250');
    await dialog.getByText('Write 1250 or 1.25', { exact: true }).waitFor();
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('4,345000');
    await dialog.getByRole('button', { name: 'Everything: 4.35 USDC' }).click();
    await dialog.getByRole('button', { name: 'Refund 4.35 USDC' }).waitFor();
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('1.25');
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('Cold coffee');
    await dialog.getByRole('button', { name: /^Refund 1.25 USDC/ }).click();
    await dialog.getByText('Refunded', { exact: true }).waitFor();
    await window.checkAccessibility();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByText('Partly refunded').waitFor();
    await page.getByRole('link', { name: /^re_/ }).click();
    await page.getByText('Cold coffee').waitFor();
    await window.checkAccessibility();
    await checkFits(page);
    await window.closeClean(/ERR_FAILED/);
  });
}

test('a refund returns single items of a sale, and offers only what is left of them', async () => {
  const { sandbox } = stage();
  const { payment } = await payAt(sandbox, { terminal: terminal.id, ...CAFE_SALE });
  const window = await openSignedIn(stage(), `dashboard/payments/${payment}`, PHONE);
  const { page } = window;
  const dialog = page.getByRole('dialog');
  const button = (name: string) => dialog.getByRole('button', { name, exact: true });
  for (const left of [2, 1]) {
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await button('Items').click();
    await button('Refund').click();
    await dialog.getByText('Add at least one item.').waitFor();
    for (let more = 0; more < left; more++) await button('Add one: Coffee').click();
    assert.equal(await button('Add one: Coffee').isDisabled(), true);
    if (left === 2) await button('Take one: Coffee').click();
    await dialog.getByText(`1 of ${left}`).waitFor();
    await dialog.getByText('Sum: €3.42').waitFor();
    await window.checkAccessibility();
    const sent = page.waitForRequest(
      (one) => one.method() === 'POST' && /refunds$/.test(one.url()),
    );
    await button('Refund €3.42').click();
    const request = await sent;
    assert.deepEqual(request.postDataJSON().line_items, [{ line: 0, quantity: 1 }]);
    assert.ok((await request.headerValue('idempotency-key')) !== null);
    await dialog.getByText(/^€3.42 .*went back/).waitFor();
    await button('Done').click();
  }
  await window.idle();
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await button('Items').click();
  await dialog.getByText('Refunded', { exact: true }).waitFor();
  assert.equal(await button('Add one: Coffee').isDisabled(), true);
  await button('Add one: Cake').click();
  await button('Refund €10.94').waitFor();
  await checkFits(page);
  await window.closeClean();
});

test('a sale without lines is refunded by a sum alone', async () => {
  const { sandbox } = stage();
  const { payment } = await payAt(sandbox, { terminal: terminal.id, amount: 2_500_000 });
  const window = await openSignedIn(stage(), `dashboard/payments/${payment}`);
  const { page } = window;
  await window.idle();
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await page.getByRole('textbox', { name: 'Amount' }).waitFor();
  await window.idle();
  assert.equal(await page.getByRole('button', { name: 'Items' }).count(), 0);
  await window.closeClean();
});

test('a new sale appears in an open list, and its whole row is a link', async () => {
  const { sandbox } = stage();
  const window = await openSignedIn(stage(), `dashboard/payments?terminal=${terminal.id}`);
  const { page } = window;
  await page.getByRole('heading', { name: 'Payments' }).waitFor();
  await window.idle();
  const sale = { terminal: terminal.id, amount: 7_250_000, tip: 250_000 };
  const { payment } = await payAt(sandbox, sale);
  const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: payment }) });
  await row.waitFor();
  await window.checkAccessibility();
  await row.getByText('Succeeded').click({ force: true });
  await page.getByRole('heading', { name: 'Payment', level: 1 }).waitFor();
  assert.match(page.url(), new RegExp(`${payment}$`));
  await page.getByRole('button', { name: 'Copy ID' }).waitFor();

  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByRole('heading', { name: 'Latest sales' }).waitFor();
  await window.idle();
  const next = await payAt(sandbox, { terminal: terminal.id, amount: 1_000_000 });
  await page.getByRole('link', { name: next.payment }).waitFor();
  await window.checkAccessibility();
  await window.closeClean();
});

test('filters are kept in the URL, and Back undoes them', async () => {
  const window = await openSignedIn(stage(), 'dashboard/payments');
  const { page } = window;
  await page.getByRole('combobox', { name: 'Status' }).selectOption('refunded');
  await page.waitForURL(/status=refunded/);
  await page.goBack();
  await page.waitForURL((url) => !url.search.includes('status'));
  await page.getByRole('button', { name: 'Export' }).click();
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('dialog').getByRole('button', { name: 'Download' }).click(),
  ]);
  assert.match(download.suggestedFilename(), /payments.*\.csv$/);
  await window.closeClean();
});

test('last week’s sales take one click, and another day’s sales a date picker', async () => {
  const { sandbox } = stage();
  const { payment } = await payAt(sandbox, { terminal: terminal.id, amount: 3_210_000 });
  const window = await openSignedIn(stage(), `dashboard/payments?terminal=${terminal.id}`, PHONE);
  const { page } = window;
  await page.getByRole('button', { name: 'Yesterday' }).click();
  await page.getByText('No results match these filters').waitFor();
  const week = page.getByRole('button', { name: 'Last 7 days' });
  await week.click();
  await page.getByRole('link', { name: payment }).waitFor();
  assert.equal(await week.getAttribute('aria-pressed'), 'true');
  await window.checkAccessibility();
  const from = page.getByLabel('From', { exact: true });
  const to = await page.getByLabel('To', { exact: true }).inputValue();
  assert.match(`${await from.inputValue()} ${to}`, /^\d{4}-\d\d-\d\d \d{4}-\d\d-\d\d$/);
  await from.fill('2026-01-01');
  await page.waitForURL((url) => url.search.endsWith(`from=2026-01-01&to=${to}`));
  assert.equal(await week.getAttribute('aria-pressed'), 'false');
  await page.goBack();
  await page.waitForURL(/time=7_days/);
  await window.closeClean();
});

test('a link from an AI model prepares a refund, and a person confirms it', async () => {
  const { sandbox, browser } = stage();
  const { payment } = await payAt(sandbox, { terminal: terminal.id, amount: 2_500_000 });
  const window = await browser.open();
  const { page } = window;
  const sent: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST' && /\/refunds$/.test(request.url())) sent.push(request.url());
  });
  await signInAt(window, { sandbox, path: `dashboard/payments/${payment}?refund=1.50` });
  const dialog = page.getByRole('dialog');
  const amount = dialog.getByRole('textbox', { name: 'Amount' });
  await amount.waitFor();
  assert.equal(await amount.inputValue(), '1.50');
  assert.deepEqual(sent, [], 'a link alone gives nothing back');
  await window.checkAccessibility();
  await dialog.getByRole('button', { name: /^Refund 1.50 USDC/ }).click();
  await dialog.getByText('Refunded', { exact: true }).waitFor();
  assert.equal(sent.length, 1);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await page.getByText('Partly refunded').waitFor();
  await window.closeClean();
});

test('a payment shows its tip separately, and links to its receipt', async () => {
  const { sandbox } = stage();
  const sale = { terminal: terminal.id, amount: 10_000_000, tip: 1_500_000 };
  const { intent, payment } = await payAt(sandbox, sale);
  const window = await openSignedIn(stage(), `dashboard/intents/${intent}`);
  const { page } = window;
  await page.getByText('Service fee').first().waitFor();
  await page.getByText('1.50', { exact: false }).first().waitFor();
  await page.getByRole('link', { name: payment }).click();
  await page.getByText('Tip (included)').waitFor();
  await window.checkAccessibility();
  await page.getByRole('link', { name: 'Receipt', exact: true }).click();
  await page.waitForURL(/\/receipts\//);
  await page.getByText('10.00 USDC').waitFor();
  await page.getByText('1.50 USDC').waitFor();
  await window.closeClean();
});

test('unpaid intents are one click from the figures', async () => {
  const { sandbox } = stage();
  const sale = { terminal: terminal.id, amount: 3_000_000, pass: 'insufficient_funds' } as const;
  const { intent } = await payAt(sandbox, sale);
  await postAsMerchant(sandbox, `/payment_intents/${intent}/cancel`);
  const window = await openSignedIn(stage(), 'dashboard');
  const { page } = window;
  await page.getByRole('link', { name: /^Not enough money: \d/ }).click();
  await page.getByRole('heading', { name: 'Intents' }).waitFor();
  await page.getByRole('link', { name: intent }).waitFor();
  const cause = page.getByRole('combobox', { name: 'Decline reason' });
  assert.equal(await cause.inputValue(), 'insufficient_funds');
  await window.closeClean();
});

test('a business that is not verified cannot go live, and sees what is missing', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open();
  const { page } = window;
  // Replaces the API's response, because the sandbox's own account completed both steps long ago.
  const state = { kyb_status: 'none', live: false, request: null };
  const change = async (input: Route) => {
    const response = await input.fetch();
    await input.fulfill({ response, json: { ...(await response.json()), ...state } });
  };
  await page.route('**/dashboard/v1/accounts/*', change);
  await page.route('**/dashboard/v1/accounts/*/live/go_live', change);
  await signInAt(window, { sandbox, path: 'dashboard' });
  await page.getByRole('switch', { name: 'Test mode' }).click();
  await page.getByRole('link', { name: 'Fill in the form' }).waitFor();
  state.kyb_status = 'pending';
  await page.reload();
  await page.getByText('The network operator is reviewing it').waitFor();
  await page.getByRole('link', { name: 'Go live', exact: true }).click();
  await page.getByText('Your wallet is registered on the chain').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Go live' }).count(), 0);
  state.kyb_status = 'approved';
  await page.reload();
  await page.getByRole('button', { name: 'Go live' }).waitFor();
  await window.checkAccessibility();
  await window.closeClean();
});

test('a declined tap is listed among the intents with its reason', async () => {
  const { sandbox } = stage();
  const { intent } = await payAt(sandbox, {
    terminal: terminal.id,
    amount: 2_000_000,
    pass: 'insufficient_funds',
  });
  const window = await openSignedIn(stage(), `dashboard/intents?terminal=${terminal.id}`);
  const { page } = window;
  await page.getByRole('link', { name: intent }).click();
  await page.getByText('Declined', { exact: true }).waitFor();
  await page.getByText(/insufficient_funds/).waitFor();
  await page.getByText('Tell the customer:').waitFor();
  await page.getByRole('button', { name: /^Cancel payment/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: /^Cancel payment/ }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByText('Canceled', { exact: true }).first().waitFor();
  await window.checkAccessibility();
  await window.closeClean();
});

test('when the session ends, the page keeps its content, and continues after sign-in', async () => {
  const { sandbox } = stage();
  const window = await openSignedIn(stage(), 'dashboard/payments');
  const { page } = window;
  await window.context.clearCookies();
  // The page may first open its own dialog, which then covers the link.
  await page.getByRole('link', { name: 'Refunds', exact: true }).dispatchEvent('click');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Email').fill(sandbox.dashboard.email);
  await dialog.getByLabel('Password').fill(sandbox.dashboard.password);
  await dialog.getByRole('button', { name: /^Sign in/ }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('heading', { name: 'Refunds' }).waitFor();
  await window.closeClean(/status of 401/);
});

test('a filter is saved under a name, applied with one click, and deleted', async () => {
  const window = await openSignedIn(stage(), 'dashboard/payments?status=refunded');
  const { page } = window;
  await page.getByRole('button', { name: 'Last 7 days' }).click();
  await page.getByRole('button', { name: 'Save filter' }).click();
  await page.getByLabel('Filter name').and(page.locator(':focus')).waitFor();
  await window.checkAccessibility();
  await page.keyboard.type('Refunded lately');
  await page.keyboard.press('Enter');
  const kept = page.getByRole('button', { name: 'Refunded lately' });
  await kept.waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.reload();
  await kept.click();
  await page.waitForURL(/status=refunded.*time=7_days/);
  assert.equal(await kept.getAttribute('aria-pressed'), 'true');
  await page.getByRole('link', { name: 'Refunds', exact: true }).click();
  await page.getByRole('heading', { name: 'Refunds', level: 1 }).waitFor();
  assert.equal(await kept.count(), 0, 'another list has filters of its own');
  await page.goBack();
  await page.getByRole('button', { name: 'Delete filter' }).click();
  await kept.waitFor({ state: 'detached' });
  await window.closeClean();
});

test('a payment and its row in the list show what was sold, with taxes and discount', async () => {
  const { sandbox } = stage();
  const till = await addTestTerminal(sandbox);
  const { payment } = await payAt(sandbox, { terminal: till.id, ...CAFE_SALE });
  const window = await openSignedIn(stage(), `dashboard/payments?terminal=${till.id}`, PHONE);
  const { page } = window;
  await page.getByText('2 × Coffee and 1 more').waitFor();
  await page.getByRole('link', { name: payment }).click();
  const items = page.locator('section', { has: page.getByRole('heading', { name: 'Items' }) });
  for (const [name, sum] of [
    ['2 × Coffee', '€7.60'],
    ['1 × Cake', '€12.16'],
    ['Discount', '€1.98'],
    ['Tax 7 %', '€0.72'],
    ['Tax 19 %', '€1.09'],
  ] as const) {
    const fact = items.locator('.fact').filter({ hasText: name });
    await fact.getByText(sum).waitFor();
  }
  await window.checkAccessibility();
  await checkFits(page);
  await window.closeClean();
});
