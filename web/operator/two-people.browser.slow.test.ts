import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DESKTOP, PHONE, type TestWindow } from '../testing/browser.ts';
import { payAt } from '../testing/desk.ts';
import { addStaff, signInAsStaff } from '../testing/staff.ts';
import { ownStage } from '../testing/stage.ts';

/** Tests that one operator proposes and another approves, in a private sandbox with these two. */

/** The proposer, on a desktop. */
let anna: TestWindow;
/** The approver, on a phone. */
let ben: TestWindow;

const stage = ownStage(async ({ sandbox, browser, db }) => {
  [anna, ben] = [await browser.open(DESKTOP), await browser.open(PHONE)];
  const people = [
    { window: anna, person: await addStaff(db, 'anna@two.test') },
    { window: ben, person: await addStaff(db, 'ben@two.test') },
  ];
  for (const { window, person } of people) {
    await signInAsStaff(window, { sandbox, person, path: 'operator/contract' });
    await window.page.getByRole('heading', { name: 'Contract', level: 1 }).waitFor();
  }
});

function rowOf({ page }: TestWindow, what: string) {
  return page.getByRole('row').filter({ hasText: what });
}

/** Clicks a button, enters a reason in its dialog, and sends it. */
async function sayWhy(
  { page }: TestWindow,
  {
    button,
    row,
    reason,
  }: { readonly button: string; readonly row?: string; readonly reason: string },
): Promise<void> {
  const named = { name: button, exact: true } as const;
  const scope = row === undefined ? page : page.getByRole('row').filter({ hasText: row });
  await scope.getByRole('button', named).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill(reason);
  await dialog.getByRole('button', named).click();
  await dialog.waitFor({ state: 'detached' });
}

test('a pause waits until a colleague approves it in another window', async () => {
  const dialog = anna.page.getByRole('dialog');
  await anna.page.getByRole('button', { name: 'Pause', exact: true }).click();
  await dialog.getByLabel('Network').selectOption('mainnet');
  await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
  await dialog.getByText('Enter a reason.').waitFor();
  await anna.checkAccessibility();
  await dialog.getByLabel('Reason').fill('The token may have been broken.');
  await dialog.getByRole('button', { name: 'Pause', exact: true }).click();
  const request = rowOf(anna, 'Pause mainnet');
  await request.getByText('Awaiting approval').waitFor();
  await request.getByRole('button', { name: 'Retract' }).waitFor();
  assert.equal(
    await request.getByRole('button', { name: 'Approve' }).count(),
    0,
    'not the own one',
  );

  await ben.page.goto(`${stage().sandbox.web_url}/operator`);
  await ben.page.getByText('Approve or reject: Pause mainnet').waitFor();
  await ben.page.goto(`${stage().sandbox.web_url}/operator/contract`);
  const reason = 'Seen it too.';
  await rowOf(ben, 'Pause mainnet').getByText('The token may have been broken.').waitFor();
  await ben.checkAccessibility();
  await sayWhy(ben, { button: 'Approve', row: 'Pause mainnet', reason });
  const agreed = rowOf(ben, 'Pause mainnet');
  await agreed.getByText('Approved').waitFor();
  await agreed.getByRole('button', { name: 'Transactions' }).click();
  const transactions = ben.page.getByRole('dialog');
  await transactions.getByText('guardian', { exact: true }).first().waitFor();
  assert.match(
    await transactions.getByLabel('To', { exact: true }).first().inputValue(),
    /^0x[\da-fA-F]{40}$/,
  );
  await ben.checkAccessibility();
  await transactions.getByRole('button', { name: 'Close' }).last().click();

  // The open page updates without a reload.
  await request.getByText('Approved').waitFor();
  await request.getByText('By ben@two.test').waitFor();
  await request.getByText(reason).waitFor();
  await anna.checkAccessibility();
});

test('rates are entered in percent, and a colleague can decline', async () => {
  const { page } = anna;
  await page.getByRole('button', { name: 'Change rates' }).click();
  const dialog = page.getByRole('dialog');
  const send = dialog.getByRole('button', { name: 'Change rates' });
  await dialog.getByLabel('Acquirer fee').fill('0.3');
  await dialog.getByLabel('Protocol fee').fill('a fifth');
  await dialog.getByLabel('Cashback').fill('0,05');
  await dialog.getByLabel('Reason').fill('As agreed for next year.');
  await send.click();
  const beside = dialog.locator('.field').filter({ hasText: 'Enter a percentage' });
  assert.equal(await beside.getByRole('textbox').inputValue(), 'a fifth');
  await dialog.getByLabel('Protocol fee').fill('0.20');
  assert.equal(await dialog.getByLabel('Reason').inputValue(), 'As agreed for next year.');
  await send.click();
  const what =
    'Change the rates of testnet: acquirer fee 0.30 %, protocol fee 0.20 %, cashback 0.05 %';
  await rowOf(anna, what).getByText('Awaiting approval').waitFor();
  await ben.page.reload();
  await sayWhy(ben, { button: 'Reject', row: what, reason: 'Not before March.' });
  await rowOf(ben, what).getByText('Rejected').waitFor();
  await page.reload();
  await rowOf(anna, what).getByText('Not before March.').waitFor();
  assert.equal(await rowOf(anna, what).getByRole('button').count(), 0, 'nothing is left to do');
});

test('the proposer withdraws a proposal, and it can no longer be approved', async () => {
  await sayWhy(anna, { button: 'Resume', reason: 'It is over.' });
  const what = 'Resume testnet';
  await ben.page.reload();
  await rowOf(ben, what).getByRole('button', { name: 'Approve' }).click();
  await sayWhy(anna, { button: 'Retract', row: what, reason: 'Too early.' });
  await rowOf(anna, what).getByText('Retracted').waitFor();
  const dialog = ben.page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('It is over, yes.');
  await dialog.getByRole('button', { name: 'Approve' }).click();
  await dialog.getByRole('alert').getByText('This proposal is no longer open').waitFor();
  assert.equal(await dialog.getByLabel('Reason').inputValue(), 'It is over, yes.');
  await dialog.getByRole('button', { name: 'Close' }).click();
});

test('a payer can pay until two people have approved the block', async () => {
  const { sandbox } = stage();
  const sale = { terminal: sandbox.test.terminal, amount: 2_500_000 };
  const { payment } = await payAt(sandbox, sale);
  const answer = await fetch(`${sandbox.base_url}/v1/payments/${payment}`, {
    headers: { Authorization: `Bearer ${sandbox.test.secret_key}` },
  });
  const { payer } = (await answer.json()) as { payer: string };
  for (const { page } of [anna, ben]) {
    await page.goto(`${sandbox.web_url}/operator/payers?text=${payer}`);
    await rowOf({ ...anna, page }, payer)
      .getByText('Can pay')
      .waitFor();
  }
  const why = 'The card was stolen.';
  await sayWhy(anna, { button: 'Block', reason: why });
  await anna.page.getByText('Sent. A colleague has to approve it.').waitFor();
  assert.notEqual((await payAt(sandbox, sale)).payment, '', 'one person alone has stopped them');
  await ben.page.goto(`${sandbox.web_url}/operator/contract`);
  await sayWhy(ben, { button: 'Approve', row: why, reason: 'The police called.' });
  await rowOf(ben, why).getByText('Approved').waitFor();
  assert.equal((await payAt(sandbox, sale)).payment, '', 'a blocked payer has paid');
  await anna.page.reload();
  await rowOf(anna, payer).getByText('Blocked').waitFor();
  await anna.checkAccessibility();
  anna.checkClean();
  ben.checkClean(/status of 409/);
});
