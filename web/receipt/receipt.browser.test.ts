import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sendRaw } from '#testkit/apis/http-kit.ts';
import { openSharedSandbox, type SharedSandbox } from '#testkit/network/shared-sandbox.ts';
import {
  DESKTOP,
  NARROW,
  openBrowser,
  PHONE,
  type TestBrowser,
  type TestWindow,
} from '../testing/browser.ts';
import { checkStill, measureFirstLoad } from '../testing/payload.ts';
import { alterReceipts, type ReceiptChanges } from '../testing/receipt.ts';
import { LONG_NAME, RIGHT_TO_LEFT_NAME } from '../testing/shots.ts';
import { postAsMerchant } from '../testing/till.ts';

/** Budget from behavior.md 21.6, in kB of 1,000 bytes. */
const BUDGET_KB = 10;

let shared: SharedSandbox;
let browser: TestBrowser;
/** Receipt URL of a payment with a tip and a partial refund. */
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

async function open(
  options: typeof DESKTOP,
  {
    changes,
    node = null,
  }: { readonly changes?: ReceiptChanges; readonly node?: string | null } = {},
): Promise<TestWindow> {
  const window = await browser.open(options);
  if (changes !== undefined) await alterReceipts(window, changes, node);
  await window.page.goto(url);
  await window.page.getByRole('heading', { level: 1 }).waitFor();
  return window;
}

const statusOf = ({ page }: TestWindow, text: RegExp) =>
  page.getByRole('status').filter({ hasText: text });

test('a receipt shows the amount that left the wallet, and the chain agrees', async () => {
  for (const options of [DESKTOP, PHONE, NARROW]) {
    const window = await open(options);
    const { page } = window;
    await statusOf(window, /Checked by your browser/).waitFor();
    const text = (await page.getByRole('main').textContent()) ?? '';
    for (const said of ['2.50 USDC', '0.25 USDC', '0.01 USDC']) {
      assert.ok(text.includes(said), `${said} is not on the receipt:\n${text}`);
    }
    assert.equal(await page.locator('.sum').textContent(), '2.76 USDC');
    assert.match(text, /Total\s*2\.76 USDC/);
    assert.match(text, /Refunded\s*1\.00 USDC/);
    assert.match(text, /0x[0-9A-Fa-f]{4}…[0-9A-Fa-f]{4}/);
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

test('without scripts a receipt is complete, and prints dark on white with a QR code', async () => {
  const window = await browser.open({
    ...DESKTOP,
    colorScheme: 'dark',
    javaScriptEnabled: false,
  } as typeof DESKTOP);
  const { page } = window;
  await page.goto(url);
  await page.getByText('2.76 USDC').first().waitFor();
  assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false);
  for (const width of [302, 219, 794]) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ media: 'print' });
    assert.equal(await page.getByText('Transaction', { exact: true }).isVisible(), true);
    assert.equal(
      await page.getByRole('img', { name: 'QR code for this receipt' }).isVisible(),
      true,
    );
    assert.equal(await page.getByRole('status').isVisible(), false);
    const box = await page.getByRole('main').boundingBox();
    assert.ok((box?.width ?? 999) <= width, `${box?.width} pixels on ${width}`);
  }
  await window.close();
});

test('a refund has its own receipt, with its number and that of the sale', async () => {
  const { sandbox } = shared;
  const { agent_terminal: terminal } = sandbox.test;
  const sale = { amount: 2_500_000, terminal };
  const intent = await postAsMerchant(sandbox, '/payment_intents', sale);
  const tap = { payment_intent: intent.id };
  const paid = await postAsMerchant(sandbox, `/test_helpers/terminals/${terminal}/tap`, tap);
  const request = { payment: paid.payment, amount: 1_234_567 };
  const { id } = await postAsMerchant(sandbox, '/refunds', request);
  const headers = { Authorization: `Bearer ${sandbox.test.secret_key}` };
  const read = async (path: string) =>
    (await fetch(`${sandbox.base_url}/v1${path}`, { headers })).json() as Promise<
      Record<'receipt_url' | 'receipt_number', string>
    >;
  const [refund, payment] = await Promise.all([
    read(`/refunds/${id}`),
    read(`/payments/${paid.payment}`),
  ]);
  const window = await browser.open(PHONE);
  const token = refund.receipt_url.split('/').at(-1);
  await window.page.goto(`${sandbox.web_url}/receipts/${token}`);
  const text = (await window.page.getByRole('main').textContent()) ?? '';
  assert.equal(await window.page.locator('.sum').textContent(), '1.23 USDC');
  for (const said of ['1.23 USDC', refund.receipt_number, payment.receipt_number]) {
    assert.ok(text.includes(said), `${said} is not on it:\n${text}`);
  }
  await window.checkAccessibility();
  window.checkClean();
  await window.close();
});

test('the page reports each field in which the server differs from the chain', async () => {
  const lies: readonly (readonly [ReceiptChanges, RegExp])[] = [
    [{ sale: 2_600_000 }, /disagree on the amount/],
    [{ order_id: 'OTHER' }, /disagree on the order ID/],
    [{ payer: '0x1234…abcd' }, /disagree on the payer/],
    [{ fees: { acquirer: 1, protocol: 5_500, cashback: 1_375 } }, /disagree on the acquirer fee/],
  ];
  for (const [changes, words] of lies) {
    const window = await open(DESKTOP, { node: 'chain/testnet', changes });
    await statusOf(window, words).waitFor();
    await window.close();
  }
});

test('the relay of the sandbox’s chain answers reads and nothing else', async () => {
  const ask = async (network: string, method: string) => {
    const response = await fetch(`${shared.sandbox.web_url}/chain/${network}`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: [] }),
    });
    return { status: response.status, ...((await response.json()) as object) };
  };
  assert.deepEqual(await ask('testnet', 'eth_chainId'), {
    status: 200,
    jsonrpc: '2.0',
    id: 7,
    result: '0x7a69',
  });
  for (const method of ['eth_sendRawTransaction', 'anvil_setBalance', 'evm_mine', 'eth_accounts']) {
    assert.equal((await ask('testnet', method)).status, 400, method);
  }
  assert.equal((await ask('othernet', 'eth_chainId')).status, 404);
});

test('another site’s page that resolves to this machine cannot query the chain', async () => {
  const { port } = new URL(shared.sandbox.web_url);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'eth_chainId' });
  const statusFor = async (host: string) => {
    const head = `POST /chain/testnet HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n`;
    const bytes = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    return (await sendRaw(Number(port), bytes)).status;
  };
  assert.equal(await statusFor(`localhost:${port}`), 200);
  assert.equal(await statusFor('evil.test'), 404);
});

test('PDF, text and JSON exist; an unknown receipt is 404 in each form', async () => {
  const page = await fetch(url);
  assert.equal(page.status, 200);
  const html = await page.text();
  assert.match(html, /<title>Receipt · [^<]+<\/title>.*2\.76 USDC/s);
  const [, link = ''] = /<a class="print" href="([^"]+)"/.exec(html) ?? [];
  const pdf = await fetch(new URL(link, url));
  assert.deepEqual([pdf.status, pdf.headers.get('content-type')], [200, 'application/pdf']);
  assert.match(await pdf.text(), /^%PDF-/);
  for (const width of [32, 48]) {
    const text = await (await fetch(`${url}.txt?width=${width}`)).text();
    assert.match(text, /Total +2\.76 USDC/);
    for (const line of text.split('\n')) assert.ok(line.length <= width, `${width}: ${line}`);
    const drawn = Buffer.from(await (await fetch(`${url}.pbm?width=${width}`)).arrayBuffer());
    const [dots, rows] = [width * 12, text.split('\n').length * 28];
    const head = `P4\n${dots} ${rows}\n`;
    assert.equal(drawn.toString('latin1', 0, head.length), head);
    assert.equal(drawn.length, head.length + (dots / 8) * rows);
  }
  for (const form of ['txt', 'pbm']) {
    assert.equal((await fetch(`${url}.${form}?width=40`)).status, 400);
  }
  const json = (await (await fetch(`${url}.json`)).json()) as { object: string; paid: number };
  assert.deepEqual([json.object, json.paid], ['receipt', 2_762_375]);
  const unknown = `${url.slice(0, -1)}${url.endsWith('a') ? 'b' : 'a'}`;
  for (const [form, type] of [
    ['', 'text/html'],
    ['.pdf', 'application/json'],
    ['.pbm', 'application/json'],
    ['.txt', 'text/plain'],
    ['.json', 'application/json'],
  ]) {
    const answer = await fetch(`${unknown}${form}`);
    assert.equal(answer.status, 404, form);
    assert.ok(answer.headers.get('content-type')?.startsWith(type ?? ''), form);
  }
});

test('names of 80 characters or from right to left, and 12 digits, fit', async () => {
  for (const name of [LONG_NAME, RIGHT_TO_LEFT_NAME]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const sums = { sale: 999_999_999_999, tip: 1, amount: 1_000_000_000_000 };
      const merchant = { name, legal_name: name, address: name, tax_number: name };
      const changes = { merchant, paid: 1_005_000_000_000, ...sums };
      const window = await open({ ...NARROW, colorScheme } as typeof DESKTOP, { changes });
      const { page } = window;
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(wide <= 0, `${name}: ${wide} pixels too wide`);
      await window.checkAccessibility();
      await window.close();
    }
  }
});

test('an incomplete URL gets an explanation', async () => {
  const window = await browser.open(PHONE);
  await window.page.goto(`${url.slice(0, -1)}`);
  await window.page.getByRole('alert').waitFor();
  await window.checkAccessibility();
  await window.close();
});

test(`the first load is below ${BUDGET_KB} kB`, async () => {
  const window = await browser.open(PHONE);
  const bytes = await measureFirstLoad(window, url);
  assert.ok(bytes <= BUDGET_KB * 1000, `${bytes} bytes`);
  await checkStill(window);
  await window.close();
});
