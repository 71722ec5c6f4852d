import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import type { SandboxFile } from '#sandbox/sandbox-file.ts';
import { PHONE } from '../../testing/browser.ts';
import { drawnRows, type ListOnPage, MOST_DRAWN, scrollThrough } from '../../testing/long-list.ts';
import { openSignedIn } from '../../testing/signed-in.ts';
import { sharedStage } from '../../testing/stage.ts';
import { addTestTerminal, postAsMerchant } from '../../testing/till.ts';

/** Scrolls a list of thousands of rows from end to end while new ones arrive. */

const ROWS = 3_000;
const NEWER = 20;
const AT_ONCE = 20;

let terminal = '';
const made: string[] = [];

async function addIntent(sandbox: SandboxFile): Promise<void> {
  const intent = { amount: 1_000_000, terminal, expires_in: 600 };
  const { id } = await postAsMerchant(sandbox, '/payment_intents', intent);
  made.push(String(id));
}

async function addIntents(sandbox: SandboxFile, count: number): Promise<void> {
  let left = count;
  const client = async () => {
    while (left-- > 0) await addIntent(sandbox);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
}

const stage = sharedStage(async ({ sandbox }) => {
  terminal = (await addTestTerminal(sandbox, 'Busy')).id;
  await addIntents(sandbox, ROWS);
});

function listOn(page: Page): ListOnPage {
  return { page, label: 'Intents', nameAt: '.row-link .unseen' };
}

test('each row is listed once while new rows arrive, and few are in the document', async () => {
  const window = await openSignedIn(stage(), `dashboard/intents?terminal=${terminal}`);
  const { page } = window;
  await page.getByRole('table', { name: 'Intents' }).waitFor();
  await window.checkAccessibility();
  const first = new Set(made);
  let isHalfway = false;
  const seen = await scrollThrough(listOn(page), async (count) => {
    if (isHalfway || count < ROWS / 2) return;
    isHalfway = true;
    await addIntents(stage().sandbox, NEWER);
  });
  const ids = [...seen].sort(([one], [other]) => one - other).map(([, id]) => id);
  assert.equal(ids.length, ROWS);
  assert.deepEqual(new Set(ids), first);
  assert.deepEqual([...seen.keys()].sort((a, b) => a - b).at(0), 2, 'the first is that of names');
  await window.checkAccessibility();

  // Jumps to a row in the middle and back.
  const middle = await page.evaluate(async () => {
    scrollTo(0, document.documentElement.scrollHeight / 2);
    await new Promise((resolve) => setTimeout(resolve, 300));
    return scrollY;
  });
  const { rows } = await drawnRows(listOn(page));
  const row = page.getByRole('link', { name: rows[Math.floor(rows.length / 2)]?.[1] ?? '' });
  await row.scrollIntoViewIfNeeded();
  assert.ok(Math.abs((await page.evaluate(() => scrollY)) - middle) < 3_000);
  const position = (await row.boundingBox())?.y ?? Number.NaN;
  await row.click();
  await page.getByRole('heading', { name: 'Intent', level: 1 }).waitFor();
  assert.equal(await page.evaluate(() => scrollY), 0);
  await page.goBack();
  await row.waitFor();
  const back = (await row.boundingBox())?.y ?? Number.NaN;
  assert.ok(Math.abs(back - position) < 5, `at ${back} instead of ${position}`);

  // New rows are announced above the list and shown on request.
  await page.getByRole('button', { name: `${NEWER} newer` }).click();
  await page.getByRole('link', { name: made.at(-1) ?? '' }).waitFor();
  const { rows: top } = await drawnRows(listOn(page));
  assert.deepEqual(new Set(top.slice(0, NEWER).map(([, id]) => id)), new Set(made.slice(ROWS)));
  await window.closeClean();
});

test('on a phone few rows are in the document, and Tab reaches all of them in order', async () => {
  const window = await openSignedIn(stage(), `dashboard/intents?terminal=${terminal}`, PHONE);
  const { page } = window;
  await page.getByRole('table', { name: 'Intents' }).waitFor();
  await window.checkAccessibility();
  await page.locator('tbody a').first().focus();
  const places: number[] = [];
  while ((places.at(-1) ?? 0) < 120) {
    const position = await page.evaluate(() =>
      Number(document.activeElement?.closest('tr')?.getAttribute('aria-rowindex')),
    );
    assert.ok(position - (places.at(-1) ?? 2) <= 1, `from ${places.at(-1)} to ${position}`);
    places.push(position);
    await page.keyboard.press('Tab');
    assert.ok((await drawnRows(listOn(page))).rows.length <= MOST_DRAWN);
  }
  await window.closeClean();
});
