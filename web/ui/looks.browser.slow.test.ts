import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { PHONE } from '../testing/browser.ts';
import { payAt } from '../testing/desk.ts';
import { openSignedIn } from '../testing/signed-in.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, openTill } from '../testing/till.ts';
import { createWallet, openWallet } from '../testing/wallet.ts';

const stage = sharedStage();

const WIDTHS = { phone: 390, tablet: 820, desktop: 1440 } as const;
const HEIGHT = 1_180;
/** Boxes on one line may be this far apart because of rounding. */
const PIXEL = 2;

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

async function boxesOf(parts: Locator): Promise<Box[]> {
  const all: Box[] = [];
  for (const part of await parts.all()) {
    const box = await part.boundingBox();
    if (box !== null) all.push(box);
  }
  return all;
}

/** Groups boxes into rows, from top to bottom. */
function rowsOf(boxes: readonly Box[]): Box[][] {
  const rows: Box[][] = [];
  for (const box of boxes) {
    const middle = box.y + box.height / 2;
    const row = rows.find(
      ([first]) => first && middle > first.y && middle < first.y + first.height,
    );
    if (row === undefined) rows.push([box]);
    else row.push(box);
  }
  return rows;
}

const endOf = ({ x, width }: Box) => x + width;

async function openDesk(path: string): Promise<{ page: Page; close(): Promise<void> }> {
  const window = await openSignedIn(stage(), `dashboard${path}`);
  await window.page.locator('search.filters').or(window.page.locator('.figures')).first().waitFor();
  return { page: window.page, close: window.close };
}

test('filters fill their rows, and none is alone in the last one', async () => {
  const { page, close } = await openDesk('/intents?status=succeeded');
  for (const [name, width] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width, height: HEIGHT });
    const rows = rowsOf(await boxesOf(page.locator('search.filters > .field')));
    assert.ok((rows.at(-1)?.length ?? 0) >= 2, `${name}: a field alone in the last row`);
    const ends = rows.map((row) => Math.max(...row.map(endOf)));
    const most = Math.max(...ends);
    for (const end of ends) assert.ok(most - end <= PIXEL, `${name}: rows end at ${ends}`);
  }
  await close();
});

test('Save filter and Show all share a row with the named periods', async () => {
  const { page, close } = await openDesk('/payments?status=succeeded');
  for (const [name, width] of Object.entries(WIDTHS)) {
    await page.setViewportSize({ width, height: HEIGHT });
    const buttons = page.locator('search.filters').getByRole('button');
    await buttons.filter({ hasText: 'Show all' }).waitFor();
    const rows = rowsOf(await boxesOf(buttons));
    for (const row of rows) assert.ok(row.length >= 2, `${name}: a button alone in its row`);
  }
  await close();
});

test('the overview shows today’s sales, and updates them with each sale', async () => {
  const { sandbox } = stage();
  const { id: terminal } = await addTestTerminal(sandbox);
  const { page, close } = await openDesk('');
  const figure = page
    .locator('section', { has: page.getByRole('heading', { name: 'Today so far' }) })
    .locator('dd')
    .nth(1);
  const count = async () => Number.parseInt((await figure.innerText()).replaceAll(',', ''), 10);
  await figure.waitFor();
  const before = await count();
  const { payment } = await payAt(sandbox, { terminal, amount: 2_500_000 });
  assert.notEqual(payment, '');
  await page.reload();
  await figure.waitFor();
  // The count may be higher, because other tests add sales in the same sandbox at the same time.
  assert.ok((await count()) > before);
  await close();
});

test('on a phone, a request without an error has no row for it', async () => {
  const { sandbox } = stage();
  const { id: terminal } = await addTestTerminal(sandbox);
  await payAt(sandbox, { terminal, amount: 2_500_000 });
  const { page, close } = await openDesk('/request-log?status=201');
  await page.setViewportSize({ width: WIDTHS.phone, height: HEIGHT });
  await page.getByText('201').first().waitFor();
  // More rows are allowed, because other tests add declines in the same sandbox at the same time.
  const created = page.getByRole('row').filter({ has: page.getByText('201', { exact: true }) });
  const errors = created.locator('td[data-name="Error"]');
  assert.ok((await errors.count()) > 0);
  assert.deepEqual(await boxesOf(errors), []);
  await close();
});

test('the wallet’s pages stay in its frame, and the till’s other actions share a row', async () => {
  const { sandbox, browser } = stage();
  const wallet = await openWallet(browser, sandbox);
  await createWallet(wallet);
  await wallet.page.setViewportSize({ width: WIDTHS.tablet, height: HEIGHT });
  const [balance] = await boxesOf(wallet.page.locator('.card').first());
  const links = await boxesOf(wallet.page.getByRole('navigation').getByRole('link'));
  assert.ok(balance !== undefined && links.length === 5);
  assert.ok(Math.max(...links.map(endOf)) <= endOf(balance) + PIXEL);
  await wallet.close();
  const terminal = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal, options: PHONE });
  await till.amount.fill('12.80');
  await till.page.getByRole('button', { name: 'Split the bill' }).waitFor();
  assert.equal(rowsOf(await boxesOf(till.page.locator('.keypad-more > *'))).length, 1);
  await till.close();
});

test('the documentation begins with its title on a phone', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open(PHONE);
  for (const path of ['/docs', '/docs/quickstart']) {
    await window.page.goto(`${sandbox.web_url}${path}`);
    const title = await window.page.getByRole('heading', { level: 1 }).boundingBox();
    assert.ok(title !== null && title.y < PHONE.viewport.height / 3, `${path}: ${title?.y}`);
  }
  await window.close();
});
