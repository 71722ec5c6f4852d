import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openSharedSandbox, type SharedSandbox } from '#testkit/network/shared-sandbox.ts';
import { openBrowser, type TestBrowser } from '../../testing/browser.ts';
import { payAt, signInAt } from '../../testing/desk.ts';
import { askForPayment, fundedAccount, injectWallet } from '../../testing/payer.ts';
import { addTestTerminal, openTill, paymentsOf } from '../../testing/till.ts';
import { createWallet, fundWallet, openWallet } from '../../testing/wallet.ts';

/**
 * Opens pages whose texts the browser translates, immediately and after each change. The apps must
 * keep working, and a button must show the amount that it charges. `test/long/translated.test.ts`
 * does the same for all journeys.
 */

let shared: SharedSandbox;
let browser: TestBrowser;

before(async () => {
  [shared, browser] = await Promise.all([openSharedSandbox(), openBrowser({ translates: true })]);
});

after(async () => {
  await browser.close();
  await shared.close();
});

test('translated, a till charges and refunds the amount that its button shows', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const till = await openTill(browser, sandbox, { terminal });
  const { page } = till;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await till.amount.fill('2.22');
  await button('Charge 2.22 USDC').waitFor();
  await till.amount.fill('3.33');
  await button('Charge 3.33 USDC').click();
  await till.cancel.click();
  await till.result('Canceled').waitFor();
  await till.newPayment.click();
  await till.amount.fill('4.44');
  await button('Charge 4.44 USDC').waitFor();
  await till.amount.fill('9.99');
  await button('Charge 9.99 USDC').click();
  await till.testPass.selectOption('ok');
  await till.result('Paid').waitFor();
  await till.newPayment.click();
  await button('Last payment').click();
  await button('Refund').click();
  const typed = page.getByRole('dialog').getByRole('textbox', { name: 'Amount' });
  await typed.fill('1');
  await button('Refund 1.00 USDC').waitFor();
  await typed.fill('2.50');
  await button('Refund 2.50 USDC').click();
  await page.getByRole('strong').getByText('Refunded', { exact: true }).waitFor();
  const payments = await paymentsOf(sandbox, terminal);
  assert.deepEqual(
    payments.map(({ amount, amount_refunded }) => [amount, amount_refunded]),
    [[9_990_000, 2_500_000]],
  );
  await till.closeClean();
});

/** An address on the test chain without a balance. */
const FRIEND = '0x90F79bf6EB2c4f870365E785982E1f101E93b906';

test('translated, a wallet sends the amount that its button shows', async () => {
  const wallet = await openWallet(browser, shared.sandbox);
  const { page } = wallet;
  await createWallet(wallet);
  await fundWallet(wallet);
  await wallet.button(/^Send$/).click();
  for (const sum of ['1.50', '2.50']) {
    await wallet.field('Recipient').fill(FRIEND);
    await wallet.field('Amount (USDC)').fill(sum);
    await wallet.button(/^Review/).click();
    await wallet.button(new RegExp(`^Send ${sum} USDC`)).waitFor();
    if (sum === '1.50') await wallet.button(/^Edit/).click();
  }
  await wallet.button(/^Send 2\.50 USDC/).click();
  await page.getByLabel('Balance').getByText('97.50').waitFor();
  await wallet.closeClean();
});

test('translated, a dashboard refunds what it shows, and shows keys and codes', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const sale = await payAt(sandbox, { terminal: terminal.id, amount: 700_000_000 });
  const window = await browser.open();
  const { page } = window;
  const dialog = page.getByRole('dialog');
  await signInAt(window, { sandbox, path: `dashboard/payments/${sale.payment}` });
  await page.getByRole('button', { name: /^Refund/ }).click();
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('700');
  await dialog.getByRole('button', { name: 'Refund 700.00 USDC' }).waitFor();
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('50');
  await dialog.getByRole('button', { name: 'Refund 50.00 USDC' }).click();
  await dialog.getByText('Refunded', { exact: true }).waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.equal(payment?.amount_refunded, 50_000_000);

  await page.goto(`${sandbox.web_url}/dashboard/api-keys`);
  await page.getByRole('button', { name: /^Create API key/ }).click();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Translated');
  await dialog.getByRole('button', { name: /^Create API key/ }).click();
  const key = await dialog.getByLabel('API key', { exact: true }).inputValue();
  assert.match(key, /^tlsk_test_/);

  await page.goto(`${sandbox.web_url}/dashboard/terminals`);
  await page.getByRole('button', { name: /^Add terminal/ }).click();
  await dialog.getByRole('textbox', { name: 'Label' }).fill('Translated');
  await dialog.getByRole('button', { name: /^Add terminal/ }).click();
  const code = await dialog.getByLabel('Pairing code', { exact: true }).inputValue();
  assert.match(code, /^[0-9A-Z]{4}-[0-9A-Z]{4}$/);
  await window.closeClean();
});

test('translated, a tip and its total follow the choice', async () => {
  const { sandbox } = shared;
  const terminal = await addTestTerminal(sandbox);
  const tipping = { percentages: [15, 50] };
  const { url } = await askForPayment(sandbox, terminal, { amount: 10_000_000, tipping });
  const window = await browser.open();
  const { page } = window;
  await injectWallet(window, sandbox, await fundedAccount(sandbox, 20_000_000n));
  await page.goto(url);
  await page.getByRole('radio', { name: /^15 %/ }).check();
  await page.getByRole('button', { name: 'Add tip and pay 11.50 USDC' }).waitFor();
  await page.getByRole('radio', { name: /^50 %/ }).check();
  await page.getByRole('button', { name: 'Add tip and pay 15.00 USDC' }).click();
  const pay = page.getByRole('button', { name: /^Pay / });
  assert.match((await pay.textContent()) ?? '', /^Pay 15\.\d+ USDC to /);
  await pay.click();
  await page.getByText('Paid', { exact: true }).waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.deepEqual([payment?.amount, payment?.tip], [15_000_000, 5_000_000]);
  await window.closeClean();
});
