import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { faultyStorage } from '../testing/faulty-storage.ts';
import { heldSales, type OfflineWindow, openOfflineTill, signRequest } from '../testing/offline.ts';
import { fundedAccount } from '../testing/payer.ts';
import { ownStage } from '../testing/stage.ts';
import { paymentsOf } from '../testing/till.ts';

/** Tests a till whose browser storage does not answer, as WebKit's sometimes does. */

const stage = ownStage();

/** The till says within 3 s that it cannot sell offline; the rest is for a busy machine. */
const SAID_MS = 3_000 + 4_000;

const openFaulty = () =>
  openOfflineTill(stage(), { prepare: ({ page }) => page.addInitScript(faultyStorage) });

const stick = (page: Page) => page.evaluate(() => sessionStorage.setItem('isStuck', '1'));
const free = (page: Page) => page.evaluate(() => sessionStorage.removeItem('isStuck'));
const closeDatabase = (page: Page) =>
  page.evaluate(() => (globalThis as unknown as { closeDatabase: () => void }).closeDatabase());

/** Waits until the till says it, and returns the milliseconds that this took. */
async function said(page: Page, words: RegExp): Promise<number> {
  const from = performance.now();
  await page.getByRole('alert').filter({ hasText: words }).first().waitFor();
  return performance.now() - from;
}

const wallet = () => fundedAccount(stage().sandbox, 10_000_000n);

async function sell(till: OfflineWindow): Promise<void> {
  await till.sellTo(await wallet(), '2.00');
  await till.newPayment.click();
}

async function forwardsAll(till: OfflineWindow, count: number): Promise<void> {
  await till.context.setOffline(false);
  await till.page.getByText(/^\d+ sales? waits?$/).waitFor({ state: 'hidden' });
  assert.equal((await paymentsOf(stage().sandbox, till.terminal)).length, count);
}

test('a storage that does not open is shown within 3 s, and loses no sale', async () => {
  const till = await openFaulty();
  const { page } = till;
  await till.cut();
  await sell(till);
  await stick(page);
  await closeDatabase(page);
  await till.amount.fill('3.00');
  await till.charge.click();
  const tookMs = await said(page, /cannot sell offline/);
  assert.ok(tookMs < SAID_MS, `${tookMs} ms`);
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  await till.checkAccessibility();
  await free(page);
  await page.getByText(/It keeps trying/).waitFor({ state: 'hidden' });
  await sell(till);
  await forwardsAll(till, 2);
  await till.close();
});

test('a storage that does not open when the page loads is tried again', async () => {
  const till = await openFaulty();
  const { page } = till;
  await till.cut();
  await sell(till);
  await stick(page);
  await page.reload();
  const tookMs = await said(page, /cannot sell until the storage responds/);
  assert.ok(tookMs < SAID_MS, `${tookMs} ms`);
  await till.checkAccessibility();
  await free(page);
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  await sell(till);
  await forwardsAll(till, 2);
  await till.close();
});

test('a transaction that throws once changes nothing', async () => {
  const till = await openFaulty();
  const { page } = till;
  await till.cut();
  for (const store of ['sales', 'sales', 'terms']) {
    const request = await till.request('1.00');
    await page.evaluate((name) => {
      Object.assign(globalThis, { throwsLeft: 1, throwsFor: name });
    }, store);
    await till.answer(await signRequest(await wallet(), request));
    await till.result('Accepted offline').waitFor();
    await till.newPayment.click();
  }
  await page.evaluate(() => Object.assign(globalThis, { throwsLeft: 0 }));
  assert.equal((await heldSales(page)).length, 3);
  await forwardsAll(till, 3);
  await till.close();
});

test('a storage that stops answering while a sale is stored accepts nothing', async () => {
  const till = await openFaulty();
  const { page } = till;
  await till.cut();
  const request = await till.request('2.00');
  await stick(page);
  await closeDatabase(page);
  const answer = await signRequest(await wallet(), request);
  await till.answer(answer);
  assert.ok((await said(page, /cannot sell offline/)) < SAID_MS);
  assert.equal(await till.result('Accepted offline').count(), 0);
  await free(page);
  await page.getByText(/It keeps trying/).waitFor({ state: 'hidden' });
  await till.answer(answer);
  await till.result('Accepted offline').waitFor();
  await forwardsAll(till, 1);
  await till.close();
});

test('a tab with a later version gets the database, and the till says so', async () => {
  const till = await openFaulty();
  const { page, context } = till;
  await till.cut();
  await sell(till);
  const [held] = await heldSales(page);
  const later = await context.newPage();
  await context.setOffline(false);
  await later.goto(`${stage().sandbox.web_url}/docs`);
  await till.cut();
  const upgrade = await later.evaluate(
    () =>
      new Promise<string>((resolve) => {
        const opening = indexedDB.open('tapline.terminal', 2);
        opening.onblocked = () => resolve('blocked');
        opening.onupgradeneeded = () => opening.result.createObjectStore('later');
        opening.onsuccess = () => {
          opening.result.close();
          resolve('upgraded');
        };
      }),
  );
  assert.equal(upgrade, 'upgraded');
  await till.amount.fill('3.00');
  await till.charge.click();
  assert.ok((await said(page, /cannot sell offline/)) < SAID_MS);
  const nonces = await later.evaluate(
    () =>
      new Promise<unknown>((resolve) => {
        const opening = indexedDB.open('tapline.terminal');
        opening.onsuccess = () => {
          const all = opening.result.transaction('sales').objectStore('sales').getAllKeys();
          all.onsuccess = () => resolve(all.result);
        };
      }),
  );
  const sold = await paymentsOf(stage().sandbox, till.terminal);
  assert.deepEqual(nonces, [held?.nonce], `${sold.length}`);
  await till.close();
});
