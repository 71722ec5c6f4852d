import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PHONE } from '../testing/browser.ts';
import { CAFE_SALE, payAt } from '../testing/desk.ts';
import { holdRequests, loseAnswers } from '../testing/network-faults.ts';
import { sharedStage } from '../testing/stage.ts';
import { type Counter, newTill, paymentsOf } from '../testing/till.ts';

const stage = sharedStage();

const REFUNDS = /device\/v1\/refunds$/;

interface Scene extends Counter {
  /** Requests a refund of 1.00. */
  refund(): Promise<void>;
}

/** Opens a till that shows a payment of 2.50 made at it. */
async function paidTill(): Promise<Scene> {
  const counter = await newTill(stage(), PHONE);
  const { till, page } = counter;
  await till.sell('2.50');
  await till.newPayment.click();
  await page.getByRole('button', { name: 'Last payment' }).click();
  const refund = async () => {
    await page.getByRole('button', { name: /^Refund/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Amount' }).fill('1.00');
    await dialog.getByRole('button', { name: /^Refund/ }).click();
  };
  return { ...counter, refund };
}

async function checkRefundedOnce({ sandbox, terminal }: Scene): Promise<void> {
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.equal(payment?.amount_refunded, 1_000_000);
}

test('a refund with a lost response is made once, even if the key ends meanwhile', async () => {
  const scene = await paidTill();
  const { till, page, refund } = scene;
  const lost = await loseAnswers(page, REFUNDS);
  await refund();
  await till.result('Checking…').waitFor();
  while (lost.met === 0) await page.waitForTimeout(50);
  // Refuses retries as if the device key had been revoked, which does not reveal the result of the
  // refund.
  let refusals = 0;
  await page.route(REFUNDS, async (route) => {
    refusals++;
    const error = { type: 'authentication_error', code: 'api_key_revoked', message: 'Ended.' };
    await route.fulfill({ status: 401, json: { error } });
  });
  while (refusals === 0) await page.waitForTimeout(50);
  await till.result('Checking…').waitFor();
  assert.equal(await page.getByText('No refund was made').count(), 0);
  await page.unrouteAll({ behavior: 'wait' });
  await page.getByText('Refunded', { exact: true }).first().waitFor();
  await checkRefundedOnce(scene);
  await till.close();
});

test('a refund that a reload interrupted continues, and blocks another one', async () => {
  const scene = await paidTill();
  const { till, page, refund } = scene;
  await holdRequests(page, REFUNDS);
  await refund();
  await till.result('Checking…').waitFor();
  await page.reload();
  await till.result('Checking…').waitFor();
  const again = page.getByRole('button', { name: /^Refund/ });
  assert.equal(await again.isDisabled(), true);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.reload();
  await page.getByText('Partly refunded').waitFor();
  await again.and(page.locator(':enabled')).waitFor();
  await checkRefundedOnce(scene);
  await till.close();
});

test('a refund that the service refuses shows the reason, and no money moves', async () => {
  const { till, page, refund } = await paidTill();
  await page.route(REFUNDS, async (route) => {
    const error = { type: 'permission_error', code: 'account_disabled', message: 'Disabled.' };
    await route.fulfill({ status: 403, json: { error } });
  });
  await refund();
  const said = page.getByRole('alert').filter({ hasText: 'No refund was made' });
  await said.getByText('Disabled.').waitFor();
  await till.checkAccessibility();
  await till.close();
});

test('a refund returns single items of a sale, and offers only what is left', async () => {
  const { till, page, terminal, sandbox } = await newTill(stage(), PHONE);
  await payAt(sandbox, { terminal: terminal.id, ...CAFE_SALE });
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByRole('link', { name: /€17\.86/ }).click();
  const dialog = page.getByRole('dialog');
  const button = (name: string) => dialog.getByRole('button', { name, exact: true });
  for (const left of [2, 1]) {
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await button('Items').click();
    assert.equal(await button('Refund').isDisabled(), true);
    await button('Add one: Coffee').click();
    await dialog.getByText(`1 of ${left}`).waitFor();
    await dialog.getByText('Sum: €3.42').waitFor();
    await till.checkAccessibility();
    const sent = page.waitForRequest((one) => one.method() === 'POST' && REFUNDS.test(one.url()));
    await button('Refund €3.42').click();
    const request = await sent;
    assert.deepEqual(request.postDataJSON().line_items, [{ line: 0, quantity: 1 }]);
    assert.ok((await request.headerValue('idempotency-key')) !== null);
    await page.getByText(/^€3\.42 .*went back/).waitFor();
  }
  await page.getByRole('button', { name: 'Refund', exact: true }).click();
  await button('Items').click();
  assert.equal(await button('Add one: Coffee').isDisabled(), true);
  await button('Amount').click();
  await dialog.getByRole('textbox', { name: 'Amount' }).waitFor();
  await till.close();
});

test('a week later, another till refunds a sale by its receipt and a manager’s code', async () => {
  const scene = await paidTill();
  const { till: first, page: before } = scene;
  const [sale] = await paymentsOf(scene.sandbox, scene.terminal);
  await before.getByRole('button', { name: 'Receipt' }).click();
  const slip = before.getByRole('dialog');
  await slip.getByRole('img', { name: 'The receipt' }).waitFor();
  const printed = first.context.waitForEvent('page');
  await slip.getByRole('button', { name: 'Print' }).click();
  const print = /receipts\/\w+#print$/.exec((await printed).url())?.[0];
  const number = /\w{5}-\d+/.exec((await slip.textContent()) ?? '')?.[0] ?? '';
  await slip.getByRole('textbox', { name: 'Email' }).fill('jane@example.com');
  await slip.getByRole('button', { name: 'Send by email' }).click();
  await slip.getByText('The receipt is on its way.').waitFor();
  await first.checkAccessibility();
  await first.close();

  const { till, page, terminal: other } = await newTill(stage(), PHONE);
  await page.getByRole('link', { name: 'Find a sale' }).click();
  const field = page.getByRole('textbox', { name: 'Receipt or order' });
  await field.fill(number.toLowerCase());
  await page.getByRole('button', { name: 'Look it up' }).click();
  await page.getByText('For a sale at another till, enter its amount, too.').waitFor();
  const amount = page.getByRole('textbox', { name: 'Amount' });
  await amount.fill('0.01');
  await page.getByRole('button', { name: 'Look it up' }).click();
  await page.getByText('No sale in this shop matches.').waitFor();
  await amount.fill(String(Number(sale?.amount) / 1_000_000));
  await page.getByRole('button', { name: 'Look it up' }).click();
  await page.getByRole('button', { name: 'Refund' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('1.00');
  await till.checkAccessibility();
  const code = await other.managerCode();
  await dialog.getByRole('textbox', { name: 'Manager code' }).fill(code);
  await dialog.getByRole('button', { name: 'Refund' }).click();
  await page.getByText('Refunded', { exact: true }).first().waitFor();
  await checkRefundedOnce(scene);

  // A receipt held to the reader while no payment waits opens its sale.
  await page.getByRole('link', { name: 'Keypad' }).click();
  await page.keyboard.type(`https://shop.example/${print?.replace('#print', '')}`);
  await page.keyboard.press('Enter');
  await page.getByText('Partly refunded').waitFor();
  assert.equal(await field.inputValue(), print?.replace(/receipts\/|#print/g, ''));
  till.checkClean();
  await till.close();
});
