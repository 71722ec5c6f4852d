import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { systemClock } from '#core/clock.ts';
import type { Database } from '#db/database.ts';
import { setLimits, WIDE_LIMITS } from '#testkit/apis/offline-sales.ts';
import { addMember } from '#testkit/apis/people.ts';
import { PersonClient } from '#testkit/apis/person-client.ts';
import { becomesTrue } from '../testing/becomes-true.ts';
import { grantStorage, hasTerms, offlineControls, signRequest } from '../testing/offline.ts';
import { fundedAccount } from '../testing/payer.ts';
import { ownStage } from '../testing/stage.ts';
import {
  addCatalogueItem,
  addTestTerminal,
  newTill,
  openTill,
  paymentsOf,
  signInOwner,
  type TillWindow,
} from '../testing/till.ts';

let db: Database;

const stage = ownStage(async (made) => {
  db = made.db;
});
const people = new Map<string, { readonly id: string; readonly pin: string }>();

async function addPerson(name: string, pin: string): Promise<void> {
  const { sandbox } = stage();
  const email = `${name.toLowerCase()}@people.test`;
  const made = { email, accountId: sandbox.account, role: 'cashier' } as const;
  const id = await addMember({ db, clock: systemClock }, made);
  await db.query('update users set name = $2 where id = $1', [id, name]);
  const owner = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  await owner.post('/session', sandbox.dashboard);
  const path = `/accounts/${sandbox.account}/members/${id}/pin`;
  const set = await owner.send('PUT', path, { pin });
  assert.equal(set.status, 200, set.text);
  people.set(name, { id, pin });
}

async function comeIn(
  { page }: Pick<TillWindow, 'page'>,
  name: string,
  button: string | RegExp,
): Promise<void> {
  await page.getByRole('combobox', { name: 'Person' }).selectOption({ label: name });
  await page.getByRole('textbox', { name: 'PIN' }).fill(people.get(name)?.pin ?? '');
  await page.getByRole('button', { name: button }).last().click();
}

async function sell(till: TillWindow): Promise<void> {
  await till.page.getByRole('link', { name: 'Keypad', exact: true }).click();
  await till.amount.fill('2.50');
  await till.charge.click();
  await till.pay();
  await till.newPayment.click();
  await till.amount.waitFor();
}

test('two people work at one till, and only a PIN opens settings and ends the shift', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  await addPerson('Ada', '4927');
  await addPerson('Ben', '86420975');
  await page.getByRole('link', { name: 'Totals' }).click();
  await page.getByRole('button', { name: 'End shift' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'End shift' }).click();
  await page.getByRole('combobox', { name: 'Person' }).selectOption({ label: 'Ada' });
  await page.getByRole('textbox', { name: 'PIN' }).fill('0000');
  await page.keyboard.press('Enter');
  await page.getByText('Wrong PIN.').waitFor();
  await till.checkAccessibility();
  await comeIn(till, 'Ada', /^Start shift/);
  await page.getByText('Ada', { exact: true }).waitFor();
  await sell(till);
  await page.getByRole('button', { name: 'Full screen' }).click();
  await page.waitForFunction(() => document.fullscreenElement !== null);
  await page.evaluate(() => document.exitFullscreen());
  await page.getByRole('button', { name: 'Hand over' }).click();
  await till.checkAccessibility();
  await comeIn(till, 'Ben', /^Hand over/);
  await page.getByText('Ben', { exact: true }).waitFor();
  await sell(till);
  const payments = await paymentsOf(sandbox, terminal);
  const who = payments.map((payment) => (payment as unknown as { cashier: string }).cashier);
  assert.deepEqual(who, [people.get('Ben')?.id, people.get('Ada')?.id]);
  await page.reload();
  await page.getByText('Ben', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  assert.equal(await page.getByRole('switch', { name: /^Sounds/ }).count(), 0);
  await page.getByRole('textbox', { name: 'PIN' }).fill('86420975');
  await page.keyboard.press('Enter');
  await page.getByRole('switch', { name: /^Sounds/ }).waitFor();
  await page.getByRole('link', { name: 'Totals' }).click();
  await page.getByRole('heading', { name: 'Ada', exact: true }).waitFor();
  await page.getByRole('button', { name: 'End shift' }).click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'PIN' }).fill('86420975');
  await page.keyboard.press('Enter');
  await page.getByRole('combobox', { name: 'Person' }).waitFor();
  till.checkClean(/status of 403/);
  await till.close();
});

test('five wrong PINs block that cashier for a while, and no other cashier', async () => {
  const { sandbox, browser } = stage();
  await addPerson('Eve', '7352');
  await addPerson('Finn', '8461');
  const terminal = await addTestTerminal(sandbox);
  const window = await browser.open();
  const { page } = window;
  await page.goto(`${sandbox.web_url}/terminal#key=${terminal.deviceKey}`);
  const pin = page.getByRole('textbox', { name: 'PIN' });
  const amount = page.getByRole('textbox', { name: 'Amount' });
  const enter = async (name: string, text: string) => {
    await page.getByRole('combobox', { name: 'Person' }).selectOption({ label: name });
    await pin.fill(text);
    const answer = page.waitForResponse((response) => response.url().endsWith('/v1/shift'));
    await page.keyboard.press('Enter');
    return (await answer).status();
  };
  // Another cashier's PIN also counts as wrong.
  for (const text of ['0000', '8461', '73529', '1111', '2222']) {
    assert.equal(await enter('Eve', text), 403, text);
    await page.getByText('Wrong PIN.').waitFor();
    assert.equal(await pin.inputValue(), '');
    assert.equal(await amount.count(), 0, 'no shift has begun');
  }
  assert.equal(
    await enter('Eve', '7352'),
    429,
    'the correct PIN is refused after too many wrong ones',
  );
  await page.getByText('Too many wrong PINs.').waitFor();
  assert.equal(await amount.count(), 0);
  assert.equal(await enter('Finn', '8461'), 201);
  await page.getByText('Finn', { exact: true }).waitFor();
  await window.close();
});

test('a discount beyond a person’s rights requires a manager’s code', async () => {
  const { sandbox, browser } = stage();
  await addCatalogueItem(sandbox, { name: 'Flat white', unit_amount: 3_000_000, tax_rate: 0 });
  for (const [name, pin] of [
    ['Cleo', '5917'],
    ['Dora', '6248'],
  ] as const) {
    await addPerson(name, pin);
  }
  const terminal = await addTestTerminal(sandbox);
  const start = (page: Page) => comeIn({ page }, 'Cleo', /^Start shift/);
  const till = await openTill(browser, sandbox, { terminal, start });
  const { page } = till;
  await page.getByRole('link', { name: /^Catalogue/ }).click();
  await page.getByRole('button', { name: /^Flat white/ }).click();
  const cart = page.getByRole('region', { name: 'Cart' });
  await cart.getByRole('button', { name: 'Discount' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Discount' }).fill('1');
  await dialog.getByRole('button', { name: 'Save' }).click();
  const code = page.getByRole('textbox', { name: 'Manager code' });
  assert.equal(await code.count(), 0, 'no code is requested before it is needed');
  await till.charge.click();
  await page.getByText('This discount needs a manager.').waitFor();
  // The till asks for a code once it has learned that no person of this shop is a manager.
  await code.waitFor();
  assert.ok(await till.charge.isDisabled());
  await till.checkAccessibility();
  await code.fill('AAAA-AAAA');
  await till.charge.click();
  await page.getByText('The manager’s PIN or code doesn’t allow this.').waitFor();
  await code.fill(await terminal.managerCode());
  await till.charge.click();
  await till.pay();
  const [sold] = await paymentsOf(sandbox, terminal);
  const { amount, discount, cashier } = sold as unknown as Record<string, unknown>;
  assert.deepEqual([amount, discount, cashier], [2_000_000, 1_000_000, people.get('Cleo')?.id]);
  till.checkClean(/status of 403/);
  await till.close();
});

test('a manager at the till allows a discount with a PIN, which the till forgets', async () => {
  const { sandbox, browser } = stage();
  await addCatalogueItem(sandbox, { name: 'Mocha', unit_amount: 3_000_000, tax_rate: 0 });
  await addPerson('Kim', '5917');
  const owner = new PersonClient(`${sandbox.base_url}/dashboard/v1`);
  await owner.post('/session', sandbox.dashboard);
  const mia = { name: 'Mia', pin: '830517', role: 'manager' };
  const added = await owner.post(`/accounts/${sandbox.account}/staff`, mia);
  assert.equal(added.status, 201, added.text);
  const terminal = await addTestTerminal(sandbox);
  const start = (page: Page) => comeIn({ page }, 'Kim', /^Start shift/);
  const till = await openTill(browser, sandbox, { terminal, start });
  const { page } = till;
  await page.getByRole('link', { name: /^Catalogue/ }).click();
  await page.getByRole('button', { name: /^Mocha/ }).click();
  const cart = page.getByRole('region', { name: 'Cart' });
  await cart.getByRole('button', { name: 'Discount' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Discount' }).fill('1');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await till.charge.click();
  const enter = async (pin: string) => {
    await dialog.getByRole('combobox', { name: 'Person' }).selectOption({ label: 'Mia' });
    await dialog.getByRole('textbox', { name: 'PIN' }).fill(pin);
    await page.keyboard.press('Enter');
  };
  await dialog.getByRole('combobox', { name: 'Person' }).waitFor();
  assert.equal(await dialog.getByRole('option').count(), 1, 'only those who may lift it');
  await till.checkAccessibility();
  await enter('111111');
  await page.getByText('This person and PIN don’t allow it.').waitFor();
  await enter(mia.pin);
  await till.pay();
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  assert.ok(!stored.includes(mia.pin), 'the till keeps no PIN');
  till.checkClean(/status of 403/);
  await till.close();
});

test('a refund beyond a person’s limit needs the PIN of an unblocked manager', async () => {
  const { sandbox, browser } = stage();
  await addPerson('Leo', '5917');
  const owner = await signInOwner(sandbox);
  const managers = { Nora: '830517', Otto: '640283' };
  for (const [name, pin] of Object.entries(managers)) {
    const person = { name, pin, role: 'manager' };
    const added = await owner.post(`/accounts/${sandbox.account}/staff`, person);
    assert.equal(added.status, 201, added.text);
  }
  const terminal = await addTestTerminal(sandbox);
  const start = (page: Page) => comeIn({ page }, 'Leo', /^Start shift/);
  const till = await openTill(browser, sandbox, { terminal, start });
  const { page } = till;
  await sell(till);
  await page.getByRole('button', { name: 'Last payment' }).click();
  await page.getByRole('button', { name: /^Refund/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('1.00');
  await dialog.getByRole('button', { name: /^Refund/ }).click();
  const person = dialog.getByRole('combobox', { name: 'Person' });
  await person.waitFor();
  const offered = await person.getByRole('option').allTextContents();
  assert.ok(offered.includes('Nora') && !offered.includes('Leo'), `only managers: ${offered}`);
  await till.checkAccessibility();
  const enter = async (name: keyof typeof managers, pin: string) => {
    await person.selectOption({ label: name });
    await dialog.getByRole('textbox', { name: 'PIN' }).fill(pin);
    const answer = page.waitForResponse(/device\/v1\/refunds$/);
    await page.keyboard.press('Enter');
    return (await answer).status();
  };
  for (let n = 0; n < 5; n++) {
    assert.equal(await enter('Otto', '111112'), 403);
    await dialog.getByText('This person and PIN don’t allow it.').waitFor();
  }
  assert.equal(await enter('Otto', managers.Otto), 429);
  await dialog.getByText('Too many wrong PINs.').waitFor();
  await till.checkAccessibility();
  assert.equal(await enter('Nora', managers.Nora), 201);
  await page.getByText('Refunded', { exact: true }).first().waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.equal(payment?.amount_refunded, 1_000_000);
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage }));
  assert.ok(!stored.includes(managers.Nora), 'the till keeps no PIN');
  till.checkClean(/status of (403|429)/);
  await till.close();
});

test('offline, people discount by their own right, and sell under their own name', async () => {
  const { sandbox, browser } = stage();
  await addCatalogueItem(sandbox, { name: 'Espresso', unit_amount: 3_000_000, tax_rate: 0 });
  await addPerson('Gil', '7391');
  await addPerson('Hana', '2846');
  const mayDiscount = 'update memberships set may_discount = true where user_id = $1';
  await db.query(mayDiscount, [people.get('Gil')?.id]);
  const terminal = await addTestTerminal(sandbox);
  await setLimits({ store: { db, terminalId: terminal.id } }, WIDE_LIMITS);
  const start = async (page: Page) => {
    await grantStorage({ context: page.context(), page });
    await comeIn({ page }, 'Gil', /^Start shift/);
  };
  const window = await openTill(browser, sandbox, { terminal, start });
  const till = offlineControls(window, terminal);
  const { page, context } = till;
  await becomesTrue(page, hasTerms);
  await page.getByRole('link', { name: /^Catalogue/ }).click();
  await page.getByRole('button', { name: /^Espresso/ }).click();
  const cart = page.getByRole('region', { name: 'Cart' });
  await cart.getByRole('button', { name: 'Discount' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Discount' }).fill('1');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await till.cut();
  await till.charge.click();
  await page.getByRole('textbox', { name: 'Request' }).waitFor();
  await till.cancel.click();
  await context.setOffline(false);
  await page.getByText('Offline', { exact: true }).waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Hand over' }).click();
  const learned = page.waitForResponse(/device\/v1\/terminal$/);
  await comeIn(till, 'Hana', /^Hand over/);
  await learned;
  await page.getByText('Hana', { exact: true }).waitFor();
  await till.cut();
  await till.charge.click();
  await page.getByText('which can’t be checked offline. Remove the discount.').waitFor();
  await cart.getByRole('button', { name: 'Discount' }).click();
  await dialog.getByRole('textbox', { name: 'Discount' }).fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await till.charge.click();
  const request = await page.getByRole('textbox', { name: 'Request' }).inputValue();
  await till.answer(await signRequest(await fundedAccount(sandbox, 100_000_000n), request));
  await till.result('Accepted offline').waitFor();
  await till.forward();
  const [sold] = await paymentsOf(sandbox, terminal);
  assert.equal((sold as unknown as { cashier: string }).cashier, people.get('Hana')?.id);
  await till.close();
});
