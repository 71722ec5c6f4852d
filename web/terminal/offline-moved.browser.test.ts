import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setLimits } from '#testkit/apis/offline-sales.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { textOf } from '../testing/desk.ts';
import { loseRequests } from '../testing/network-faults.ts';
import { heldSales, type OfflineWindow, openOfflineTill } from '../testing/offline.ts';
import { fundedAccount } from '../testing/payer.ts';
import { ownStage } from '../testing/stage.ts';
import { addTestTerminal, paymentsOf, type TestTerminal } from '../testing/till.ts';

/** Tests a device that holds unsent sales and becomes another terminal. */

const stage = ownStage();

/** Opens a till with two sales that never reach the service until the returned fault ends. */
async function withTwoSales() {
  const till = await openOfflineTill(stage());
  const unsent = await loseRequests(till.page, /\/offline_payments$/);
  await till.cut();
  for (let made = 0; made < 2; made++) {
    await till.sellTo(await fundedAccount(stage().sandbox, 10_000_000n), '2.00');
    await till.newPayment.click();
  }
  await till.context.setOffline(false);
  return { till, unsent };
}

/** Pairs the till as another terminal, which first says how many sales wait. @returns the file */
async function moveTo({ page }: OfflineWindow, { deviceKey }: TestTerminal): Promise<string> {
  await page.goto('about:blank');
  await page.goto(`${stage().sandbox.web_url}/terminal#key=${deviceKey}`);
  await page.getByRole('alert').getByText('2 sales wait', { exact: true }).waitFor();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as a file' }).click();
  const file = await textOf(await saved);
  await page.getByRole('button', { name: /^Pair/ }).click();
  await page.getByText('2 sales wait', { exact: true }).waitFor();
  return file;
}

const saleCount = (file: string) => (JSON.parse(file) as { payments: object[] }).payments.length;

test('a till that is moved says how many sales wait, and forwards them as the other', async () => {
  const { sandbox, db } = stage();
  const { till, unsent } = await withTwoSales();
  const other = await addTestTerminal(sandbox, 'Elsewhere');
  await setLimits({ store: { db, terminalId: other.id } });
  assert.equal(saleCount(await moveTo(till, other)), 2);
  await till.checkAccessibility();
  await unsent.end();
  await till.page.getByText('2 sales wait', { exact: true }).waitFor({ state: 'hidden' });
  const paid = async () => (await paymentsOf(sandbox, other)).length === 2;
  await eventually('the other terminal has forwarded them', paid);
  await till.close();
});

test('a change of mode keeps the sales, offers the file, and loses none', async () => {
  const { sandbox } = stage();
  const { till, unsent } = await withTwoSales();
  const { page } = till;
  const live = await addTestTerminal(sandbox, 'Live counter', 'live');
  assert.equal(saleCount(await moveTo(till, live)), 2);
  await unsent.end();
  // The live terminal may not sell offline, so the service refuses the sales.
  await page.getByText('The service does not accept sales from this till.').waitFor();
  await page.getByRole('button', { name: 'Save as a file' }).waitFor();
  assert.equal((await heldSales(page)).length, 2);
  await till.close();
});
