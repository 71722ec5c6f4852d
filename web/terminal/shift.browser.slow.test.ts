import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { sharedStage } from '../testing/stage.ts';
import {
  addTestTerminal,
  intentsOf,
  newTill,
  openTill,
  paymentsOf,
  postAsMerchant,
  type TillWindow,
} from '../testing/till.ts';

const stage = sharedStage();

async function payPart(till: TillWindow): Promise<void> {
  await till.charge.click();
  await till.pay();
  await till.newPayment.click();
  await till.amount.waitFor();
}

test('a bill in equal parts is paid to the last cent, under one group', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage(), PHONE);
  await till.amount.fill('10');
  await page.getByRole('button', { name: 'Split the bill' }).click();
  await page.getByRole('combobox', { name: 'People' }).selectOption('3');
  await page.getByRole('button', { name: /^Equal parts/ }).click();
  await page.getByText('Part 1 of 3').waitFor();
  await payPart(till);
  await page.getByText('Part 2 of 3').waitFor();
  // A reload in the middle of a split bill does not lose the bill.
  await page.reload();
  await page.getByText('Part 2 of 3').waitFor();
  await payPart(till);
  await payPart(till);
  assert.equal(await page.getByText('Part').count(), 0);
  const payments = await paymentsOf(sandbox, terminal);
  assert.deepEqual(
    payments.map(({ amount }) => amount),
    [3_330_000, 3_330_000, 3_340_000],
  );
  assert.equal(new Set(payments.map(({ split_group }) => split_group)).size, 1);
  assert.notEqual(payments[0]?.split_group, null);
  await till.close();
});

test('in a bill split by amounts, each person pays an amount up to the remainder', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage(), PHONE);
  await till.amount.fill('10');
  await page.getByRole('button', { name: 'Split the bill' }).click();
  await page.getByRole('button', { name: 'By amount' }).click();
  await till.amount.fill('10.01');
  await page.getByText('This is more than is left to pay.').waitFor();
  assert.equal(await till.charge.isDisabled(), true);
  await till.amount.fill('7.25');
  await payPart(till);
  assert.equal(await till.amount.inputValue(), '2.75', 'the rest is proposed');
  await payPart(till);
  const payments = await paymentsOf(sandbox, terminal);
  assert.deepEqual(
    payments.map(({ amount }) => amount),
    [2_750_000, 7_250_000],
  );
  await till.close();
});

test('an unpaid payment expires automatically, and the till shows that', async () => {
  const { sandbox, till, terminal } = await newTill(stage());
  await till.ask('2.50');
  const [intent] = await intentsOf(sandbox, terminal);
  await postAsMerchant(sandbox, `/test_helpers/payment_intents/${intent?.id}/expire`);
  const region = till.result('Expired');
  await region.waitFor();
  await region.getByText('No pass was presented in time.').waitFor();
  await till.newPayment.click();
  await till.amount.waitFor();
  await till.close();
});

test('a cancel on either side shows on the till', async () => {
  const { sandbox, till, terminal } = await newTill(stage());
  await till.ask('2.50');
  await till.cancel.click();
  await till.result('Canceled').waitFor();
  await till.newPayment.click();
  await till.ask('3.50');
  const [intent] = await intentsOf(sandbox, terminal);
  await postAsMerchant(sandbox, `/payment_intents/${intent?.id}/cancel`);
  await till.result('Canceled').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 0);
  await till.close();
});

test('the PIN locks the screen, not the payment, and survives a reload', async () => {
  const { till, page } = await newTill(stage());
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('textbox', { name: 'PIN' }).fill('2468');
  await page.getByRole('button', { name: 'Set PIN' }).click();
  await page.getByRole('button', { name: 'Lock' }).click();
  await page.reload();
  await page.getByRole('textbox', { name: 'PIN' }).fill('1111');
  await page.keyboard.press('Enter');
  await page.getByText('Wrong PIN.').waitFor();
  await till.checkAccessibility();
  assert.equal(await till.charge.count(), 0);
  await page.getByRole('textbox', { name: 'PIN' }).fill('2468');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'Settings' }).waitFor();
  await till.close();
});

test('the end of a shift: totals to print, and the next one starts at zero', async () => {
  const { till, page } = await newTill(stage());
  await till.amount.fill('4.20');
  await payPart(till);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('textbox', { name: 'Cashier' }).fill(' Ada ');
  await page.getByRole('link', { name: 'Keypad' }).click();
  await till.amount.fill('2.10');
  await payPart(till);
  await page.getByRole('link', { name: 'Totals' }).click();
  const lines = page.locator('section');
  await lines.filter({ has: page.getByRole('heading', { name: 'Ada', exact: true }) }).waitFor();
  const textOf = async (name: string) =>
    (await lines.filter({ hasText: name }).textContent()) ?? '';
  assert.match(await textOf('Ada'), /Total\s*2\.10/);
  assert.match(await textOf('No cashier'), /Total\s*4\.20/);
  await page.getByText('6.30 USDC').first().waitFor();
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false);
  assert.equal(await page.getByRole('link', { name: 'History' }).isVisible(), false);
  assert.equal(await page.getByText('6.30 USDC').first().isVisible(), true);
  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('button', { name: 'End shift' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End shift' }).click();
  const cashier = page.getByRole('textbox', { name: 'Cashier' });
  assert.equal(await cashier.inputValue(), 'Ada', 'the next one is proposed the last one');
  await page.getByRole('button', { name: /^Start shift/ }).click();
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByText('No payments in this shift').waitFor();
  await till.close();
});

test('nothing moves if the system asks for reduced motion', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const options = { ...PHONE, reducedMotion: 'reduce' as const };
  const till = await openTill(browser, sandbox, { terminal, options });
  await till.ask('2.50');
  await till.page.waitForTimeout(300);
  const moving = await till.page.evaluate(
    () => document.getAnimations().filter(({ playState }) => playState === 'running').length,
  );
  assert.equal(moving, 0);
  await till.close();
});

test('the customer chooses a tip before the tap; the ledger records it separately', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage(), PHONE);
  const tipping = { percentages: [10, 15, 20] };
  const sale = { amount: 10_000_000, terminal: terminal.id, tipping };
  await postAsMerchant(sandbox, '/payment_intents', sale);
  await page.getByRole('radio', { name: /^15 %/ }).waitFor();
  assert.equal(await till.testPass.count(), 0, 'no pass before the tip');
  await till.checkAccessibility();
  await page.getByRole('radio', { name: /^15 %/ }).check();
  await page.getByRole('button', { name: /^Add tip/ }).click();
  await till.pay();
  await till.newPayment.click();
  await postAsMerchant(sandbox, '/payment_intents', sale);
  await page.getByRole('button', { name: 'No tip' }).click();
  await till.pay();
  const payments = await paymentsOf(sandbox, terminal);
  assert.deepEqual(
    payments.map(({ amount, tip }) => [amount, tip]),
    [
      [10_000_000, 0],
      [11_500_000, 1_500_000],
    ],
  );
  await till.close();
});

test('a result plays a sound, also after a reload, unless sounds are off', async () => {
  const { till, page } = await newTill(stage());
  await page.addInitScript(() => {
    Object.assign(window, { notes: 0 });
    const start = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function play(when) {
      Object.assign(window, { notes: (window as unknown as { notes: number }).notes + 1 });
      start.call(this, when);
    };
  });
  const sell = async () => {
    await till.amount.fill('2.50');
    await payPart(till);
    return page.evaluate(() => (window as unknown as { notes: number }).notes);
  };
  await page.reload();
  await till.amount.waitFor();
  // The first click loads the code for sounds, which may arrive after the response. So only later
  // sales are counted.
  await sell();
  const heard = await sell();
  assert.ok(heard > 0, `${heard} notes`);
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('switch', { name: /^Sounds/ }).click();
  await page.getByRole('link', { name: 'Keypad' }).click();
  assert.equal(await sell(), heard, 'silent');
  till.checkClean();
  await till.close();
});
