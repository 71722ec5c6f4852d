import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setClock, WRONG_CLOCKS } from '../testing/clock.ts';
import { holdRequests } from '../testing/network-faults.ts';
import { sharedStage } from '../testing/stage.ts';
import {
  addTestTerminal,
  intentsOf,
  newTill,
  openTill,
  paymentsOf,
  postAsMerchant,
  tillOf,
} from '../testing/till.ts';

const stage = sharedStage();

const TAP = /\/tap$/;
const CREATE = /device\/v1\/payment_intents$/;

test('buttons clicked twice act once', async () => {
  const { sandbox, till, terminal } = await newTill(stage());
  await till.amount.fill('2.50');
  await till.charge.dblclick();
  await till.testPass.waitFor();
  assert.equal((await intentsOf(sandbox, terminal)).length, 1);
  await till.pay();
  await till.newPayment.dblclick();
  await till.amount.waitFor();
  await till.page.getByRole('button', { name: 'Last payment' }).click();
  await till.page.getByRole('button', { name: /^Refund/ }).click();
  const dialog = till.page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('1');
  await dialog.getByRole('button', { name: /^Refund/ }).dblclick();
  await till.page.getByText('Partly refunded').waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.equal(payment?.amount_refunded, 1_000_000);
  await till.close();
});

test('an amount that can be read in two ways is never charged', async () => {
  const { sandbox, till, terminal } = await newTill(stage());
  await till.amount.fill('1,500');
  await till.page.getByText('Write 1500 or 1.50', { exact: true }).waitFor();
  await till.amount.press('Enter');
  assert.equal(await till.charge.isDisabled(), true);
  for (const [typed, shown] of [
    ['0,500', 'Charge 0.50 USDC'],
    ['1\u202f500', 'Charge 1,500.00 USDC'],
  ] as const) {
    await till.amount.fill(typed);
    await till.page.getByRole('button', { name: shown, exact: true }).waitFor();
  }
  assert.equal((await intentsOf(sandbox, terminal)).length, 0);
  await till.close();
});

test('the back button leaves no payment behind', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByRole('link', { name: 'Keypad' }).click();
  await till.ask('2.50');
  await page.goBack();
  await till.testPass.waitFor();
  const held = await holdRequests(page, TAP);
  await till.testPass.selectOption('ok');
  await till.result('Checking…').waitFor();
  await page.goBack();
  await till.result('Checking…').waitFor();
  assert.equal(await till.charge.count(), 0);
  await held.end();
  await till.result('Paid').waitFor();
  // Leaves the app and returns to it.
  await page.goto('about:blank');
  await page.goBack();
  await till.result('Paid').waitFor();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await till.close();
});

test('a second tab takes over the till during a tap, and the first tab says so', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const first = await openTill(browser, sandbox, { terminal });
  await first.ask('2.50');
  const held = await holdRequests(first.page, TAP);
  await first.testPass.selectOption('ok');
  await first.result('Checking…').waitFor();
  const page = await first.context.newPage();
  await page.goto(`${sandbox.web_url}/terminal`);
  await page.getByText('The till is open in another window').waitFor();
  await page.getByRole('button', { name: 'Use it here' }).click();
  const second = tillOf({ ...first, page });
  await second.result('Paid').waitFor();
  await first.page.getByText('The till is open in another window').waitFor();
  // Releases the first request: it arrives late, as the same tap with the same key.
  await held.end();
  await second.newPayment.click();
  await second.amount.fill('1.');
  await page.reload();
  assert.equal(await second.amount.inputValue(), '1.', 'the second one is the till');
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await first.close();
});

test('two tills with one device key: a tap at each is one payment, shown on both', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const tills = [
    await openTill(browser, sandbox, { terminal }),
    await openTill(browser, sandbox, { terminal }),
  ] as const;
  const sale = { amount: 2_500_000, terminal: terminal.id };
  await postAsMerchant(sandbox, '/payment_intents', sale);
  await Promise.all(tills.map((till) => till.testPass.waitFor()));
  const [one, other] = tills;
  await Promise.all([
    one.testPass.selectOption('ok'),
    other.testPass.selectOption('ok_2').catch(() => {}),
  ]);
  await Promise.all(tills.map((till) => till.result('Paid').waitFor()));
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  for (const till of tills) await till.close();
});

test('a revoked device key is reported at once; paired again, the till continues', async () => {
  const { sandbox, browser, till, page, terminal } = await newTill(stage());
  await till.amount.fill('12.5');
  const other = await browser.open();
  await other.page.goto(`${sandbox.web_url}/terminal#pair=${await terminal.pairingCode()}`);
  await other.page.getByRole('button', { name: /^Start shift/ }).waitFor();
  await other.close();
  await till.charge.click();
  await page.getByRole('alert').getByText('This device is no longer paired').waitFor();
  await page.getByRole('button', { name: 'Pair again' }).click();
  await page.getByRole('textbox', { name: 'Pairing code' }).fill(await terminal.pairingCode());
  await page.getByRole('button', { name: /^Pair/ }).click();
  // Either the requested payment continues or its amount is still in the field.
  await till.testPass.or(till.amount).waitFor();
  if ((await till.amount.count()) > 0) {
    assert.equal(await till.amount.inputValue(), '12.5');
    await till.charge.click();
  }
  await till.pay();
  const payments = await paymentsOf(sandbox, terminal);
  assert.deepEqual(
    payments.map(({ amount }) => amount),
    [12_500_000],
  );
  await till.close();
});

for (const { name, offsetMs } of WRONG_CLOCKS) {
  test(`a device whose clock is ${name} shows the service's time`, async () => {
    const { sandbox, browser } = stage();
    const terminal = await addTestTerminal(sandbox);
    const window = await browser.open();
    await setClock(window.page, offsetMs);
    await window.page.goto(`${sandbox.web_url}/terminal#key=${terminal.deviceKey}`);
    await window.page.getByText('Counter of a test').waitFor();
    await window.page.getByRole('button', { name: /^Start shift/ }).click();
    const till = tillOf(window);
    await till.ask('2.50');
    const left = (await till.page.getByRole('timer').textContent()) ?? '';
    assert.match(left, /^(2:00|1:[3-5]\d) left$/);
    await till.pay();
    await till.newPayment.click();
    await till.page.getByRole('link', { name: 'Totals' }).click();
    await till.page.getByText('2.50 USDC').first().waitFor();
    till.checkClean();
    await till.close();
  });
}

test('a payment that could not be opened is not sent, and can never be paid', async () => {
  const { sandbox, till, terminal } = await newTill(stage());
  await till.amount.fill('2.50');
  // The till goes offline before its request reaches the service.
  const held = await holdRequests(till.page, CREATE);
  await till.charge.click();
  await till.page.getByText('Starting the payment').waitFor();
  await till.context.setOffline(true);
  await held.end();
  await till.page.getByText('Not sent', { exact: true }).waitFor();
  assert.equal(await till.amount.inputValue(), '2.50', 'the amount is kept');
  await till.context.setOffline(false);
  await till.charge.click();
  await till.pay();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  const open = (await intentsOf(sandbox, terminal)).filter(
    ({ status }) => status === 'requires_payment_method',
  );
  assert.deepEqual(open, []);
  await till.close();
});
