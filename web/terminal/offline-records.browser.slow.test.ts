import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { encodeFunctionData, type Hex, numberToHex } from 'viem';
import { present } from '#core/assert.ts';
import { timelockOf } from '#settlement/contract/timelock-calls.ts';
import { eventually } from '#testkit/fixtures/webhooks/webhooks.ts';
import { settlementAbi } from '../../contracts/artifacts/Settlement.ts';
import { signInAt, textOf } from '../testing/desk.ts';
import { heldSales, type OfflineWindow, openOfflineTill, putSales } from '../testing/offline.ts';
import { fundedAccount, rpc } from '../testing/payer.ts';
import { addPrinter, printedJobs } from '../testing/printer.ts';
import { ownStage } from '../testing/stage.ts';
import { listAsMerchant, paymentsOf } from '../testing/till.ts';

/** Tests how a till handles sales that it cannot forward, and how it finds a sale again. */

const stage = ownStage();

/** Sells to a wallet with enough money. @returns the sale as the till stores it. */
async function sellOffline(till: OfflineWindow, sum: string) {
  const wallet = await fundedAccount(stage().sandbox, 100_000_000n);
  await till.sellTo(wallet, sum);
  return present((await heldSales(till.page)).at(-1), 'the sale');
}

function offlineSales({ terminal }: OfflineWindow) {
  return listAsMerchant(stage().sandbox, `/offline_payments?terminal=${terminal.id}&limit=100`);
}

/** Clicks the button under this notice. @returns the file's text. */
async function savedFile(page: Page): Promise<string> {
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as a file' }).click();
  return textOf(await download);
}

test('the file that a deactivated till saves is submitted and paid, and holds no key', async () => {
  const { sandbox, browser } = stage();
  const till = await openOfflineTill(stage());
  const { page, context, terminal } = till;
  await till.cut();
  const sale = await sellOffline(till, '3.10');
  await till.newPayment.click();
  await terminal.deactivate();
  await context.setOffline(false);
  await page.getByText('The service does not accept sales from this till.').waitFor();
  await till.checkAccessibility();
  const file = await savedFile(page);
  assert.ok(!file.includes(terminal.deviceKey));
  const { payments } = JSON.parse(file);
  assert.deepEqual(
    payments.map((one: { authorization: object }) => one.authorization),
    [
      {
        from: sale.from,
        value: sale.value,
        valid_after: 0,
        valid_before: sale.validBefore,
        nonce: sale.nonce,
        signature: sale.signature,
      },
    ],
  );
  const desk = await browser.open();
  await signInAt(desk, { sandbox, path: 'dashboard/offline-payments' });
  await desk.page.getByRole('button', { name: 'Hand in a file' }).click();
  const dialog = desk.page.getByRole('dialog');
  await dialog.getByLabel('Terminal').selectOption(terminal.id);
  await dialog.getByLabel('File', { exact: true }).setInputFiles({
    ...{ name: 'offline-sales.json', mimeType: 'application/json' },
    buffer: Buffer.from(file),
  });
  await dialog.getByRole('button', { name: 'Hand in a file' }).click();
  await dialog.getByText('1 sale was accepted.').waitFor();
  const paid = await eventually('it is paid', async () => {
    const [one, ...others] = await paymentsOf(sandbox, terminal);
    assert.equal(others.length, 0);
    return one;
  });
  assert.deepEqual([paid.amount, paid.status], [3_100_000, 'succeeded']);
  await desk.close();
  await till.close();
});

test('a record that the service refuses survives a reload, and is sent again', async () => {
  const till = await openOfflineTill(stage());
  const { page, context } = till;
  await till.cut();
  const good = await sellOffline(till, '1.20');
  await till.newPayment.click();
  const nonce: Hex = `0x${'5a'.repeat(32)}`;
  // A record with another sale's nonce, so that the service cannot verify the signature.
  await putSales(page, [{ ...good, nonce, acceptedAt: new Date().toISOString() }]);
  await page.reload();
  await page.getByText('2 sales wait', { exact: true }).waitFor();
  await context.setOffline(false);
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  const isUnread = async () =>
    (await heldSales(page)).some(({ state, nonce: one }) => one === nonce && state.is === 'unread');
  await eventually('the service has refused it', isUnread);
  assert.ok((await savedFile(page)).includes(nonce));
  const sent = page.waitForRequest(
    (request) => request.method() === 'POST' && (request.postData() ?? '').includes(nonce),
  );
  await page.reload();
  await sent;
  await page.getByText('1 sale waits', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByText('It stays on this till.').waitFor();
  await page.getByText('parameter_invalid', { exact: true }).waitFor();
  assert.ok(await isUnread());
  assert.deepEqual(
    (await offlineSales(till)).map((one) => [one.nonce, one.status]),
    [[good.nonce, 'succeeded']],
  );
  await till.close();
});

test('the code on the printed slip finds the sale again', async () => {
  const till = await openOfflineTill(stage(), {
    prepare: ({ page }) => page.addInitScript(addPrinter),
  });
  const { page, context } = till;
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: /^Connect a printer/ }).click();
  await page.getByText('58 mm').click();
  await page.getByRole('link', { name: 'Keypad' }).click();
  await till.amount.waitFor();
  await till.cut();
  await sellOffline(till, '4.30');
  const shown = await page.locator('.slip-code').textContent();
  await page.getByRole('button', { name: /^Print/ }).click();
  const job = await eventually('it is printed', async () => (await printedJobs(page)).at(-1));
  const paper = Buffer.from(job, 'hex').toString('latin1');
  assert.match(paper, /Accepted offline/);
  assert.match(paper, /Amount +4\.30 USDC/);
  assert.match(paper, /not a\s+receipt/);
  const [, code = ''] = /Code +([0-9A-F]{4}-[0-9A-F]{4})/.exec(paper) ?? [];
  assert.equal(code, shown);
  await context.setOffline(false);
  const beginning = `0x${code.replace('-', '').toLowerCase()}`;
  const result = await eventually('the code finds the sale', async () => {
    const all = await offlineSales(till);
    return all.find(
      ({ nonce, status }) => String(nonce).startsWith(beginning) && status === 'succeeded',
    );
  });
  const [paid] = await paymentsOf(stage().sandbox, till.terminal);
  assert.deepEqual([paid?.id, paid?.amount], [result.payment, 4_300_000]);
  await till.close();
});

/** Changes the fee rates as governance does after its delay. */
async function changeFees(rates: { acquirer: number; protocol: number; cashback: number }) {
  const { sandbox } = stage();
  const settlement = sandbox.test.settlement as Hex;
  const from = timelockOf(settlement);
  await rpc(sandbox, 'anvil_impersonateAccount', [from]);
  await rpc(sandbox, 'anvil_setBalance', [from, numberToHex(10n ** 18n)]);
  const call = { abi: settlementAbi, functionName: 'setRates', args: [rates] } as const;
  const data = encodeFunctionData(call);
  const hash = await rpc(sandbox, 'eth_sendTransaction', [{ from, to: settlement, data }]);
  await eventually('the fees have changed', async () => {
    const receipt = (await rpc(sandbox, 'eth_getTransactionReceipt', [hash])) as {
      readonly status: string;
    } | null;
    assert.notEqual(receipt?.status, '0x0');
    return receipt;
  });
}

test('a sale that was signed at earlier fees bounces, and the till shows why', async () => {
  const till = await openOfflineTill(stage());
  const { page, context } = till;
  await till.cut();
  const old = await sellOffline(till, '5.00');
  await till.newPayment.click();
  await changeFees({ acquirer: 40, protocol: 20, cashback: 5 });
  try {
    await context.setOffline(false);
    await page.getByText('1 sale bounced', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'View offline sales' }).click();
    await page.getByText('The network’s fees have changed since then.').waitFor();
    const [bounced] = await offlineSales(till);
    assert.deepEqual(
      [bounced?.nonce, bounced?.status, bounced?.bounce_reason, bounced?.payment],
      [old.nonce, 'bounced', 'rates_changed', null],
    );
    // The next sale uses the new rates and is paid.
    const told = page.waitForResponse((response) => response.url().endsWith('/v1/terminal'));
    await page.reload();
    await page.getByRole('link', { name: 'Keypad' }).click();
    await till.amount.waitFor();
    await (await told).finished();
    await till.cut();
    await sellOffline(till, '5.00');
    await till.forward();
    const [paid] = await paymentsOf(stage().sandbox, till.terminal);
    assert.deepEqual([paid?.amount, paid?.status], [5_000_000, 'succeeded']);
  } finally {
    await changeFees({ acquirer: 30, protocol: 20, cashback: 5 });
  }
  await till.close();
});
