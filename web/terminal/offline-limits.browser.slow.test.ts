import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { setLimits, WIDE_LIMITS } from '#testkit/apis/offline-sales.ts';
import { answerTo, offlineMessage, readRequest, writeAnswer } from '../data/offline-request.ts';
import { NARROW } from '../testing/browser.ts';
import { addHeldChip } from '../testing/halo.ts';
import { heldSales, type OfflineWindow, openOfflineTill, signRequest } from '../testing/offline.ts';
import { fundedAccount } from '../testing/payer.ts';
import { fits } from '../testing/priced.ts';
import { ownStage } from '../testing/stage.ts';
import { intentsOf, paymentsOf } from '../testing/till.ts';
import { haloChip } from './counter/virtual-halo-chip.ts';

const stage = ownStage();

const stranger = () => privateKeyToAccount(generatePrivateKey());

async function sees(till: OfflineWindow, words: RegExp): Promise<void> {
  await till.page.getByRole('alert').filter({ hasText: words }).waitFor();
}

test('a sale above a limit is not requested, and the message names the limit', async () => {
  const limits = { per_payment: 5_000_000, per_card_per_day: 6_000_000, total: 9_000_000 };
  const till = await openOfflineTill(stage(), {
    limits: { ...limits, count: 2, hours: 1 },
    options: NARROW,
  });
  const { page } = till;
  const wallet = stranger();
  await till.cut();
  await till.amount.fill('5.01');
  await till.charge.click();
  await sees(till, /limit per payment is 5\.00 USDC/);
  await till.sellTo(wallet, '4.00');
  await fits(page);
  await till.newPayment.click();

  // A second sale would exceed this wallet's daily limit, so the till waits for another wallet.
  const second = await till.request('3.00');
  await fits(page);
  await till.answer(await signRequest(wallet, second));
  await sees(till, /limit per card per day is 6\.00 USDC/);
  await till.answer(await signRequest(stranger(), second));
  await till.result('Accepted offline').waitFor();
  await till.newPayment.click();
  await page.getByText('2 sales wait', { exact: true }).waitFor();

  await till.amount.fill('1.00');
  await till.charge.click();
  await sees(till, /offline limit is 2 waiting sales/);
  // After an hour without a connection, the till stops selling until it reaches the service.
  await page.evaluate(() => {
    const { now } = Date;
    Date.now = () => now() + 3_700_000;
  });
  await till.charge.click();
  await sees(till, /offline for more than 1 hour/);
  await till.close();
});

test('credentials that only the service can check, and wrong answers, are refused', async () => {
  const till = await openOfflineTill(stage());
  const { page } = till;
  const wallet = stranger();
  await till.cut();
  const first = await till.request('1.00');
  await till.cancel.click();
  const request = await till.request('2.00');
  assert.notEqual(request, first);
  const answer = await signRequest(wallet, request);
  await till.answer(await signRequest(wallet, first));
  await sees(till, /for another sale/);
  await till.answer(`${answer.slice(0, -1)}`);
  await sees(till, /incomplete or has a typo/);
  await till.answer('hello');
  await sees(till, /isn’t the wallet’s answer/);
  await till.answer('pass_0000000000000000000000.12345678');
  await sees(till, /Passes, codes and cards that don’t sign can’t be checked/);
  const read = readRequest(request);
  assert.ok(typeof read !== 'string');
  const forged = await stranger().signTypedData(offlineMessage(read, wallet.address));
  await till.answer(writeAnswer(answerTo(read, { from: wallet.address, signature: forged })));
  await sees(till, /signature doesn’t match/);
  // A keyboard reader types a pass, regardless of the focus.
  await page.keyboard.type('nfc_00000000000000000000000000000000000000');
  await page.keyboard.press('Enter');
  await sees(till, /Passes, codes and cards that don’t sign can’t be checked/);
  // A keyboard reader types the wallet's answer.
  await page.keyboard.type(answer);
  await page.keyboard.press('Enter');
  await till.result('Accepted offline').waitFor();
  await till.close();
});

test('a card with a chip signs at a till that is offline', async () => {
  const { sandbox } = stage();
  const account = await fundedAccount(sandbox, 10_000_000n);
  const till = await openOfflineTill(stage(), {
    prepare: ({ page }) => addHeldChip(page, haloChip(account, 'https://example.com/', null)),
  });
  const { page } = till;
  await till.cut();
  await till.request('3.00');
  await page.getByRole('button', { name: /^Hold a card/ }).click();
  await till.result('Accepted offline').waitFor();
  await till.forward();
  const [paid] = await paymentsOf(sandbox, till.terminal);
  assert.equal(paid?.amount, 3_000_000);
  await till.close();
});

test('a sale that bounces is shown with its reason, and its wallet is refused', async () => {
  const till = await openOfflineTill(stage());
  const { page } = till;
  const empty = stranger();
  await till.cut();
  await till.sellTo(empty, '4.00');
  await till.context.setOffline(false);
  await page.getByText('1 sale bounced', { exact: true }).waitFor();
  await till.newPayment.click();
  await page.getByRole('button', { name: 'View offline sales' }).click();
  await page.getByRole('heading', { name: 'Offline sales' }).waitFor();
  await page.getByText('The wallet doesn’t hold enough.').waitFor();
  await till.checkAccessibility();
  await page.getByText('1 sale bounced', { exact: true }).waitFor({ state: 'hidden' });
  await page.getByRole('link', { name: 'Keypad' }).click();
  await till.amount.waitFor();
  await till.cut();
  await till.answer(await signRequest(empty, await till.request('1.00')));
  await sees(till, /is blocked, or one of its sales has bounced/);
  await till.close();
});

test('a browser that may delete stored data does not sell offline', async () => {
  const till = await openOfflineTill(stage(), { persists: false });
  await till.cut();
  await till.amount.fill('1.00');
  await till.charge.click();
  await sees(till, /may delete stored data/);
  await till.close();
});

test('a till whose limits were removed does not sell offline', async () => {
  const { db } = stage();
  const till = await openOfflineTill(stage());
  const { page } = till;
  await setLimits({ store: { db, terminalId: till.terminal.id } }, null);
  const told = page.waitForResponse((response) => response.url().endsWith('/v1/terminal'));
  await page.reload();
  await till.amount.waitFor();
  await (await told).finished();
  await till.cut();
  await page.getByText('The amount is kept; nothing is charged').waitFor();
  await till.amount.fill('1.00');
  await till.charge.click();
  await till.result('Not sent').waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Request' }).count(), 0);
  assert.equal(await page.getByRole('textbox', { name: 'Answer' }).count(), 0);
  assert.deepEqual(await heldSales(page), []);
  await till.close();
});

test('a payment that was open when the connection ended does not block the till', async () => {
  const { sandbox } = stage();
  const till = await openOfflineTill(stage());
  const { page } = till;
  await till.ask('2.00');
  await till.cut();
  await till.cancel.click();
  await page.getByRole('button', { name: 'Sell offline instead' }).click();
  await till.request('2.00');
  await till.cancel.click();
  await till.context.setOffline(false);
  for (let tries = 0; ; tries++) {
    const [left] = await intentsOf(sandbox, till.terminal);
    if (left?.status === 'canceled') break;
    assert.ok(tries < 100, `${left?.status}`);
    await page.waitForTimeout(200);
  }
  await till.close();
});

/** Returns the time of the last contact, by the service's clock, that the till has stored. */
function keptContact({ page }: OfflineWindow): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const opening = indexedDB.open('tapline.terminal');
        opening.onsuccess = () => {
          const database = opening.result;
          const current = database.transaction('terms').objectStore('terms').get('current');
          current.onsuccess = () => {
            database.close();
            resolve(current.result.contactAt);
          };
        };
      }),
  );
}

test('a deactivated till gets no more time to sell offline', async () => {
  const limits = { ...WIDE_LIMITS, hours: 1 };
  const till = await openOfflineTill(stage(), { limits });
  const { page } = till;
  await till.terminal.deactivate();
  const since = Date.now();
  const refused = () =>
    page.waitForResponse(
      (response) => response.url().includes('/payment_intents/next') && response.status() === 409,
    );
  await refused();
  await page.waitForTimeout(3_000);
  // The till still reads its own terminal when its page is loaded.
  const told = page.waitForResponse((response) => response.url().endsWith('/v1/terminal'));
  await page.reload();
  assert.equal((await told).status(), 200);
  await refused();
  await page.waitForTimeout(500);
  assert.ok((await keptContact(till)) < since + 2_000);
  // Refused requests do not renew it either.
  await page.evaluate(() => {
    const { now } = Date;
    Date.now = () => now() + 3_700_000;
  });
  await refused();
  await refused();
  await till.cut();
  await till.amount.fill('1.00');
  await till.charge.click();
  await sees(till, /offline for more than 1 hour/);
  await till.close();
});

test('setting the clock back while the page is open changes no time of a sale', async () => {
  const till = await openOfflineTill(stage());
  const { page } = till;
  await till.cut();
  await page.evaluate(() => {
    const { now } = Date;
    Date.now = () => now() - 24 * 3_600_000;
  });
  await page.waitForTimeout(8_000);
  const request = await till.request('1.00');
  const before = Date.now();
  await till.answer(await signRequest(stranger(), request));
  await till.result('Accepted offline').waitFor();
  const [held] = await heldSales(page);
  const late = before - Date.parse(held?.acceptedAt ?? '');
  assert.ok(late < 4_000, `${late} ms late`);
  await till.close();
});
