import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PrivateKeyAccount } from 'viem/accounts';
import { present } from '#core/assert.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { loseAnswers, loseRequests } from '../testing/network-faults.ts';
import {
  heldSales,
  type OfflineWindow,
  offlineControls,
  openOfflineTill,
  signRequest,
} from '../testing/offline.ts';
import { fundedAccount } from '../testing/payer.ts';
import { ownStage } from '../testing/stage.ts';
import { intentsOf, paymentsOf, postAsMerchant } from '../testing/till.ts';

const stage = ownStage();

const wallet = () => fundedAccount(stage().sandbox, 10_000_000n);

/** Records the till's calls that cancel or read a payment, or forward sales. */
function watchCalls({ page }: OfflineWindow): readonly string[] {
  const calls: string[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    const [call] = /(cancel|offline_payments)$/.exec(pathname) ?? [];
    if (call !== undefined) calls.push(call);
  });
  return calls;
}

/** Sells offline what the till shows as an online payment, which stays open. */
async function sellInstead(till: OfflineWindow, account: PrivateKeyAccount): Promise<void> {
  await till.cut();
  await till.cancel.click();
  await till.page.getByRole('button', { name: 'Sell offline instead' }).click();
  await till.amount.waitFor();
  await till.sellTo(account, '2.00');
}

async function openIntent({ terminal }: OfflineWindow): Promise<string> {
  const open = async () => (await intentsOf(stage().sandbox, terminal))[0]?.id;
  return String(await eventually('the payment is open', open));
}

async function statusOf({ terminal }: OfflineWindow, id: string): Promise<unknown> {
  return (await intentsOf(stage().sandbox, terminal)).find((one) => one.id === id)?.status;
}

const payOnline = (till: OfflineWindow, id: string, pass = stage().sandbox.test.passes.ok) =>
  postAsMerchant(stage().sandbox, `/test_helpers/terminals/${till.terminal.id}/tap`, {
    payment_intent: id,
    credential: { type: 'nfc_id', value: pass },
  });

/** Waits until the till's only sale is final. @returns its state */
async function ended(till: OfflineWindow): Promise<string> {
  await till.page.getByText(/^\d+ sales? waits?$/).waitFor({ state: 'hidden' });
  const [sale] = await heldSales(till.page);
  return String(sale?.state.is);
}

test('the online payment is canceled before the sale is forwarded', async () => {
  const till = await openOfflineTill(stage());
  const calls = watchCalls(till);
  await till.ask('2.00');
  const id = await openIntent(till);
  await sellInstead(till, await wallet());
  const [held] = await heldSales(till.page);
  assert.deepEqual(held?.replaces, { id });
  const cancels = await loseRequests(till.page, /\/cancel$/);
  await till.context.setOffline(false);
  await eventually(
    'the till cancels',
    async () => calls.filter((one) => one === 'cancel').length > 4,
  );
  assert.deepEqual(
    calls.filter((one) => one !== 'cancel'),
    [],
    'forwarded too early',
  );
  await cancels.end();
  assert.equal(await ended(till), 'succeeded');
  assert.equal(await statusOf(till, id), 'canceled');
  assert.equal((await paymentsOf(stage().sandbox, till.terminal)).length, 1);
  await till.close();
});

test('a payment that the phone approves 40 s later is already paid online', async () => {
  const { sandbox } = stage();
  const till = await openOfflineTill(stage());
  const { page } = till;
  const calls = watchCalls(till);
  await till.ask('2.00');
  const id = await openIntent(till);
  await till.testPass.selectOption('confirm');
  await till.result('Waiting for the customer to confirm').waitFor();
  await sellInstead(till, await wallet());
  await till.newPayment.click();
  await page.waitForTimeout(40_000);
  await postAsMerchant(sandbox, `/test_helpers/payment_intents/${id}/payer_confirm`, {
    approve: true,
  });
  await till.context.setOffline(false);
  assert.equal(await ended(till), 'paid_online');
  await till.result('Paid').waitFor();
  await till.newPayment.click();
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByText('Already paid online').waitFor();
  await till.checkAccessibility();
  const [sale] = await heldSales(page);
  assert.equal(sale?.signature, null);
  assert.ok(!calls.includes('offline_payments'), 'the sale was sent');
  assert.equal((await paymentsOf(sandbox, till.terminal)).length, 1);
  await till.close();
});

test('the sale waits while the online payment is processing', async () => {
  const till = await openOfflineTill(stage());
  const { page } = till;
  const calls = watchCalls(till);
  await till.ask('2.00');
  const id = await openIntent(till);
  await sellInstead(till, await wallet());
  const open = present((await intentsOf(stage().sandbox, till.terminal))[0], 'the payment');
  const error = { code: 'payment_intent_unexpected_state', message: 'Processing.', param: null };
  const refusal = { status: 409, json: { error } };
  let isProcessing = true;
  const answerWith = (path: string, answer: { status?: number; json: object }) =>
    page.route(path, (route) => (isProcessing ? route.fulfill(answer) : route.fallback()));
  await answerWith('**/cancel', refusal);
  await answerWith(`**/payment_intents/${id}`, { json: { ...open, status: 'processing' } });
  await till.context.setOffline(false);
  await eventually('the till asks', async () => calls.length > 3);
  assert.ok(!calls.includes('offline_payments'), 'the sale was sent');
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  isProcessing = false;
  assert.equal(await ended(till), 'succeeded');
  assert.equal(await statusOf(till, id), 'canceled');
  await till.close();
});

test('a payment whose response was lost is found, canceled and replaced', async () => {
  const till = await openOfflineTill(stage());
  const { page, context } = till;
  const lost = await loseAnswers(page, /\/payment_intents$/);
  await till.amount.fill('2.00');
  await till.charge.click();
  const id = await openIntent(till);
  await till.cancel.click();
  await till.cut();
  await till.sellTo(await wallet(), '2.00');
  await lost.end();
  await context.setOffline(false);
  assert.equal(await ended(till), 'succeeded');
  assert.equal(await statusOf(till, id), 'canceled');
  const [sale] = await heldSales(page);
  assert.deepEqual(sale?.replaces, { id });
  assert.equal((await paymentsOf(stage().sandbox, till.terminal)).length, 1);
  await till.close();
});

test('a second tab forwards no sale whose cart was paid online meanwhile', async () => {
  const { sandbox } = stage();
  const first = await openOfflineTill(stage());
  const { context, terminal } = first;
  await first.ask('2.00');
  const id = await openIntent(first);
  await first.cut();
  await first.cancel.click();
  await first.page.getByRole('button', { name: 'Sell offline instead' }).click();
  await first.amount.waitFor();
  const page = await context.newPage();
  await page.goto(`${sandbox.web_url}/terminal`);
  await page.getByRole('button', { name: /^Use it here/ }).click();
  const till = offlineControls({ ...first, page }, terminal);
  await till.answer(await signRequest(await wallet(), await till.request('2.00')));
  await till.result('Accepted offline').waitFor();
  await payOnline(till, id);
  await context.setOffline(false);
  assert.equal(await ended(till), 'paid_online');
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await first.close();
});

test('another sale does not depend on the payment that was left open', async () => {
  const { sandbox } = stage();
  const till = await openOfflineTill(stage());
  await till.ask('3.00');
  const id = await openIntent(till);
  await sellInstead(till, await wallet());
  const [sale] = await heldSales(till.page);
  assert.equal(sale?.replaces ?? null, null);
  await till.newPayment.click();
  await payOnline(till, id);
  await till.context.setOffline(false);
  assert.equal(await ended(till), 'succeeded');
  await till.result('Paid').waitFor();
  assert.equal((await paymentsOf(sandbox, till.terminal)).length, 2);
  await till.close();
});
