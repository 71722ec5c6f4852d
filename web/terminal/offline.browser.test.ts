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

  await till.forward();
  const [paid, ...others] = await paymentsOf(sandbox, till.terminal);
  assert.equal(others.length, 0);
  assert.equal(paid?.amount, 2_500_000);
  assert.equal(paid?.status, 'succeeded');
  await till.close();
});

/** Code for the page: sends the answer, and cancels this many milliseconds later. */
const SEND_AND_CANCEL = (waitMs: number) =>
  new Promise<void>((resolve) => {
    const answer = document.querySelector<HTMLInputElement>('input[data-name="Answer"]');
    const cancel = document.querySelector<HTMLButtonElement>('[data-name="Cancel payment"]');
    answer?.form?.requestSubmit();
    setTimeout(() => {
      cancel?.click();
      resolve();
    }, waitMs);
  });

test('a cancel during an answer ends in one sale that is shown, or in none', async () => {
  const wallet = await fundedAccount(stage().sandbox, 100_000_000n);
  const till = await openOfflineTill(stage());
  const { page } = till;
  await till.cut();
  let accepted = 0;
  for (const waitMs of [0, 2, 5, 10, 20, 40, 80]) {
    const request = await till.request('1.50');
    const answer = await signRequest(wallet, request);
    await page.getByRole('textbox', { name: 'Answer' }).fill(answer);
    await page.evaluate(SEND_AND_CANCEL, waitMs);
    const result = till.result('Accepted offline');
    await result.or(till.amount).first().waitFor();
    if (await result.isVisible()) {
      accepted += 1;
      await till.newPayment.click();
    }
    await till.amount.waitFor();
  }
  // After a reload, a sale that was stored unseen would be forwarded and counted here.
  await page.reload();
  await till.amount.waitFor();
  const waits = { 0: 'no sale', 1: '1 sale waits' }[accepted] ?? `${accepted} sales wait`;
  if (accepted > 0) await page.getByText(waits, { exact: true }).waitFor();
  else assert.equal(await page.getByText(/sales? waits?/).count(), 0);
  await till.close();
});
