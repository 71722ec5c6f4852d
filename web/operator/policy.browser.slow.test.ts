import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DESKTOP, PHONE, type TestWindow } from '../testing/browser.ts';
import { addStaff, signInAsStaff } from '../testing/staff.ts';
import { ownStage } from '../testing/stage.ts';

/** Tests that two operators change the limits that wallets propose, in a private sandbox. */

const PATH = 'operator/settings';

const stage = ownStage();

function formOf({ page }: TestWindow, network: 'testnet' | 'mainnet') {
  const save = page.getByRole('button', { name: `Save for ${network}` });
  const form = page.locator('form').filter({ has: save });
  const field = (name: RegExp) => form.getByRole('textbox', { name });
  return {
    form,
    save,
    perPayment: field(/^Limit per payment/),
    perPeriod: field(/^Limit per period/),
    hours: field(/^Hours per period/),
    days: field(/^Valid for \(days\)/),
    fee: field(/^Highest fee/),
  };
}

const WRONG = [
  { field: 'perPayment', typed: 'a lot', says: 'Enter an amount such as 2.50.' },
  { field: 'perPeriod', typed: '1', says: 'Enter no less than the limit per payment.' },
  { field: 'hours', typed: '721', says: 'Enter whole hours, 1 to 720.' },
  { field: 'days', typed: '0', says: 'Enter whole days, 1 to 3,650.' },
  { field: 'fee', typed: '3.01', says: 'Enter a percentage, 0 to 3.00.' },
] as const;

test('a wrong value is reported beside its field, and the input stays', async () => {
  const { sandbox, browser } = stage();
  const window = await browser.open(PHONE);
  await signInAsStaff(window, { sandbox, path: PATH });
  const { form, save, ...fields } = formOf(window, 'testnet');
  await fields.days.fill('90');
  for (const { field, typed, says } of WRONG) {
    const before = await fields[field].inputValue();
    await fields[field].fill(typed);
    await save.click();
    const beside = form.locator('.field').filter({ hasText: says }).getByRole('textbox');
    await beside.waitFor();
    assert.equal(await beside.inputValue(), typed, `${says} stands beside another field`);
    assert.equal(await form.locator('.field-error').count(), 1, 'one thing at a time');
    if (field === 'perPayment') await window.checkAccessibility();
    await fields[field].fill(before);
  }
  assert.equal(await fields.days.inputValue(), '90', 'nothing that was typed is lost');
  await save.click();
  await window.page.getByText('Saved.').waitFor();
  await window.page.reload();
  await fields.days.waitFor();
  assert.equal(await fields.days.inputValue(), '90');
  const live = formOf(window, 'mainnet');
  assert.notEqual(await live.days.inputValue(), '90', 'the other network stays as it was');
  await window.closeClean();
});

test('if two people save, the second one sees both values and decides', async () => {
  const { sandbox, browser, db } = stage();
  const [first, second] = [await browser.open(DESKTOP), await browser.open(DESKTOP)];
  const anna = await addStaff(db, 'anna@policy.test');
  const ben = await addStaff(db, 'ben@policy.test');
  await signInAsStaff(first, { sandbox, person: anna, path: PATH });
  await signInAsStaff(second, { sandbox, person: ben, path: PATH });
  const [mine, theirs] = [formOf(first, 'mainnet'), formOf(second, 'mainnet')];
  await mine.perPayment.fill('33');
  await mine.hours.fill('48');
  await theirs.perPayment.fill('44.50');
  await theirs.save.click();
  await second.page.getByText('Saved.').waitFor();
  await mine.save.click();
  await mine.form.getByText('Someone else changed this since').waitFor();
  await mine.form.getByText('Current value: 44.50').waitFor();
  await mine.form.getByText('Current value: 24').waitFor();
  assert.equal(await mine.perPayment.inputValue(), '33', 'nothing that was typed is lost');
  assert.equal(await mine.hours.inputValue(), '48');
  await first.checkAccessibility();
  await mine.save.click();
  await first.page.getByText('Saved.').waitFor();
  await mine.form.getByText('Someone else changed this since').waitFor({ state: 'detached' });
  await second.page.reload();
  await theirs.hours.waitFor();
  assert.equal(await theirs.perPayment.inputValue(), '33.00');
  assert.equal(await theirs.hours.inputValue(), '48');
  first.checkClean(/status of 409/);
  second.checkClean();
  for (const window of [first, second]) await window.close();
});
