import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSharedSandbox, type SharedSandbox } from '#testing/shared-sandbox.ts';
import {
  DESKTOP,
  NARROW,
  openBrowser,
  PHONE,
  type TestBrowser,
  type TestWindow,
} from '../testing/browser.ts';
import { measureFirstLoad } from '../testing/payload.ts';
import { LONG_NAME, RIGHT_TO_LEFT_NAME } from '../testing/shots.ts';
import { postAsMerchant } from '../testing/till.ts';

/** behavior.md 21.6, in KB. */
const BUDGET_KB = 20;

let shared: SharedSandbox;
let browser: TestBrowser;
/** A paid payment with a tip, partly refunded. */
let url = '';

before(async () => {
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser()]);
  const { sandbox } = shared;
  const { agent_terminal: terminal } = sandbox.test;
  const tipping = { percentages: [10] };
  const sale = { amount: 2_500_000, terminal, tipping, description: 'Two flat whites' };
  const intent = await postAsMerchant(sandbox, '/payment_intents', sale);
  const tap = { payment_intent: intent.id, tip_amount: 250_000 };
  const paid = await postAsMerchant(sandbox, `/test_helpers/terminals/${terminal}/tap`, tap);
  assert.equal(paid.status, 'succeeded');
  await postAsMerchant(sandbox, '/refunds', { payment: paid.payment, amount: 1_000_000 });
  const response = await fetch(`${sandbox.base_url}/v1/payments/${paid.payment}`, {
    headers: { Authorization: `Bearer ${sandbox.test.secret_key}` },
  });
  const { receipt_url } = (await response.json()) as { receipt_url: string };
  url = `${sandbox.web_url}/receipts/${receipt_url.split('/').at(-1)}`;
});

after(async () => {
  await browser.close();
  await shared.close();
});

interface Changes {
  readonly merchant?: { readonly name: string };
  readonly [field: string]: unknown;
}

/** What the server says, changed on its way, and a node that the page may ask. */
async function open(
  options: typeof DESKTOP,
  altered: { readonly changes?: Changes; readonly node?: boolean } = {},
): Promise<TestWindow> {
  const window = await browser.open(options);
  const node = `${shared.sandbox.web_url}/node-of-the-test`;
  await window.page.route('**/api/pay/v1/receipts/*', async (route) => {
    const response = await route.fetch();
    const body = await response.json();
    const proof = { ...body.proof, ...(altered.node === true ? { rpc_url: node } : {}) };
    await route.fulfill({ response, json: { ...body, proof, ...altered.changes } });
  });
  // The page's policy lets it ask its own origin: the node is brought there.
  await window.page.route(node, async (route) => {
    const answer = await fetch(shared.sandbox.test.rpc_url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: route.request().postData() ?? '',
    });
    await route.fulfill({ contentType: 'application/json', body: await answer.text() });
  });
  await window.page.goto(url);
  await window.page.getByRole('heading', { level: 1 }).waitFor();
  return window;
}

const statusOf = ({ page }: TestWindow, text: RegExp) =>
  page.getByRole('status').filter({ hasText: text });

test('a receipt shows sale, tip, fees and refund, and says who vouches for it', async () => {
  for (const options of [DESKTOP, PHONE, NARROW]) {
    const window = await open(options);
    const { page } = window;
    await statusOf(window, /^As told by this server/).waitFor();
    const text = (await page.getByRole('main').textContent()) ?? '';
    for (const said of ['2.50 USDC', '0.25 USDC', '2.75 USDC', '0.01375 USDC', '2.76375 USDC']) {
      assert.ok(text.includes(said), `${said} is not on the receipt:\n${text}`);
    }
    assert.match(text, /Refunded\s*1\.00 USDC/);
    assert.match(text, /0x[0-9A-Fa-f]{4}…[0-9A-Fa-f]{4}/);
    await page.getByText('Check it yourself').click();
    await page.getByText('npm run receipt --').waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${wide} pixels too wide`);
    const edge = page.locator('dl').first();
    const padding = await edge.evaluate((list) => getComputedStyle(list).paddingInlineStart);
    assert.equal(padding, '16px', 'the page’s own styles win over the base');
    await window.checkAccessibility();
    window.checkClean();
    await window.close();
  }
});

test('on paper it is dark on white, with the whole proof and nothing to press', async () => {
  const window = await open({ ...DESKTOP, colorScheme: 'dark' } as typeof DESKTOP);
  const { page } = window;
  await page.getByRole('status').waitFor();
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false);
  assert.equal(await page.getByText('Transaction', { exact: true }).isVisible(), true);
  const [ink, paper] = await page.evaluate(() => {
    const { color, backgroundColor } = getComputedStyle(document.body);
    const lightness = (text: string) => Number(/\d+/.exec(text)?.[0] ?? '255');
    return [
      lightness(color),
      backgroundColor === 'rgba(0, 0, 0, 0)' ? 255 : lightness(backgroundColor),
    ];
  });
  assert.ok(Number(ink) < 80 && Number(paper) > 200, `ink ${ink}, paper ${paper}`);
  await window.close();
});

test('with a node to ask, the browser checks it with the chain itself', async () => {
  const window = await open(PHONE, { node: true });
  await statusOf(window, /Checked by your browser/).waitFor();
  window.checkClean();
  await window.close();
});

test('what the server says otherwise than the chain is told, whatever it is', async () => {
  const lies: readonly (readonly [Changes, RegExp])[] = [
    [{ sale: 2_600_000 }, /about the amount/],
    [{ order_id: 'OTHER' }, /about the order id/],
    [{ payer: '0x1234…abcd' }, /about the payer/],
    [{ fees: { acquirer: 1, protocol: 5_500, cashback: 1_375 } }, /about the acquirer fee/],
  ];
  for (const [changes, words] of lies) {
    const window = await open(DESKTOP, { node: true, changes });
    await statusOf(window, words).waitFor();
    await window.close();
  }
});

test('names of 80 characters or from right to left, and 12 digits, fit', async () => {
  for (const name of [LONG_NAME, RIGHT_TO_LEFT_NAME]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const sums = { sale: 999_999_999_999, tip: 1, amount: 1_000_000_000_000 };
      const changes = { merchant: { name }, total_charged: 1_005_000_000_000, ...sums };
      const window = await open({ ...NARROW, colorScheme } as typeof DESKTOP, { changes });
      const { page } = window;
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name}: ${wide} pixels too wide`);
      await window.checkAccessibility();
      await window.close();
    }
  }
});

test('an address that is not complete is said in words', async () => {
  const window = await browser.open(PHONE);
  await window.page.goto(`${url.slice(0, -1)}`);
  await window.page.getByRole('alert').waitFor();
  await window.checkAccessibility();
  await window.close();
});

test(`the first load is below ${BUDGET_KB} KB`, async () => {
  const window = await browser.open(PHONE);
  const bytes = await measureFirstLoad(window, url);
  assert.ok(bytes <= BUDGET_KB * 1024, `${bytes} bytes`);
  await window.close();
});
