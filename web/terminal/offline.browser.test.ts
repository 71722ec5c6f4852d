import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAnswer, readRequest } from '../data/offline-request.ts';
import { openOfflineTill, signRequest } from '../testing/offline.ts';
import { fundedAccount } from '../testing/payer.ts';
import { ownStage } from '../testing/stage.ts';
import { paymentsOf } from '../testing/till.ts';

const stage = ownStage();

test('a till sells offline to a wallet that signs, and forwards the sale', async () => {
  const { sandbox } = stage();
  const wallet = await fundedAccount(sandbox, 100_000_000n);
  const till = await openOfflineTill(stage());
  const { page } = till;
  await till.cut();
  const request = await till.request('2.50');
  await page.getByRole('img', { name: /^Offline request/ }).waitFor();
  await till.checkAccessibility();
  await till.answer(await signRequest(wallet, request));
  await till.result('Accepted offline').waitFor();
  assert.equal(await page.getByText('Paid', { exact: true }).count(), 0);
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  await till.checkAccessibility();
  const read = readRequest(request);
  assert.ok(typeof read !== 'string');
  assert.equal(read.amount, 2_500_000n);
  assert.notEqual(readAnswer(await signRequest(wallet, request)), 'damaged');

  // The sale survives a reload offline.
  await page.reload();
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  await till.newPayment.click();
  assert.equal((await paymentsOf(sandbox, till.terminal)).length, 0);

  await till.context.setOffline(false);
  await page.getByText('1 sale waits', { exact: true }).waitFor({ state: 'hidden' });
  const [paid, ...others] = await paymentsOf(sandbox, till.terminal);
  assert.equal(others.length, 0);
  assert.equal(paid?.amount, 2_500_000);
  assert.equal(paid?.status, 'succeeded');
  await till.close();
});
