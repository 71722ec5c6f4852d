import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { PHONE } from '../testing/browser.ts';
import { addChipDialog } from '../testing/halo.ts';
import { fundedAccount } from '../testing/payer.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, newTill, openTill, paymentsOf } from '../testing/till.ts';
import { haloChip } from './counter/virtual-halo-chip.ts';

const stage = sharedStage();

const thing = (page: Page, name: RegExp) => page.getByRole('button', { name });

/** Drags an item onto another element and holds it there. */
async function drag(page: Page, name: RegExp, to: string): Promise<void> {
  await thing(page, name).scrollIntoViewIfNeeded();
  const from = await thing(page, name).boundingBox();
  const box = await page.locator(to).boundingBox();
  assert.ok(from !== null && box !== null);
  const { mouse } = page;
  await mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await mouse.down();
  await mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 8 });
}

/** Records the colors that fill the screen from now on. */
function noteColors(page: Page): Promise<void> {
  return page.evaluate(() => {
    const seen: string[] = [];
    Object.assign(window, { seenColors: seen });
    const { documentElement: root } = document;
    new MutationObserver(() => {
      if (root.dataset.signal !== undefined) seen.push(root.dataset.signal);
    }).observe(root, { attributeFilter: ['data-signal'] });
  });
}

function colorsOf(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => (window as unknown as { seenColors: string[] }).seenColors);
}

test('a phone that is dragged onto the till pays as a real one does', async () => {
  const { sandbox, till, terminal } = await newTill(stage(), PHONE);
  await till.ask('2.50');
  await till.page.getByRole('heading', { name: 'Virtual counter' }).waitFor();
  await till.checkAccessibility();
  await drag(till.page, /^Hold the phone/, '.pad');
  await till.result('Paid').waitFor();
  await till.page.mouse.up();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.deepEqual(payment?.payment_method, { type: 'wallet_pass', credential: 'nfc_id' });
  await till.close();
});

test('a card signs at the till and pays; one that is removed too early pays nothing', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  await noteColors(page);
  await till.ask('2.50');
  await drag(page, /^Hold the card/, '.pad');
  await page.getByText('Hold the card in place').waitFor();
  await page.mouse.move(5, 5);
  await page.mouse.up();
  await page.getByText('The card was removed too early.').waitFor();
  assert.ok((await colorsOf(page)).includes('bad'), 'and the screen was red before');
  assert.equal((await paymentsOf(sandbox, terminal)).length, 0);
  await thing(page, /^Hold the card/).press('Enter');
  await till.result('Paid').waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.deepEqual(payment?.payment_method, { type: 'wallet', credential: 'chip' });
  assert.equal(payment?.amount, 2_500_000);
  const colors = await colorsOf(page);
  assert.deepEqual(colors.slice(-2), ['wait', 'good'], 'read, then paid');
  await till.close();
});

test('a card with too little USDC signs nothing; the till shows its balance', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage(), PHONE);
  const handedIn: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') handedIn.push(request.url());
  });
  await till.ask('500000.00');
  await thing(page, /^Hold the card/).press('Enter');
  await page.getByText(/This card holds only [\d,]+\.\d\d USDC/).waitFor();
  assert.ok(!handedIn.some((url) => url.endsWith('/authorization')), handedIn.join(' '));
  await drag(page, /^Hold the phone/, '.pad');
  await till.result('Paid').waitFor();
  await page.mouse.up();
  assert.equal((await paymentsOf(sandbox, terminal)).length, 1);
  await till.close();
});

test('a tag and a bank card get their own messages; a phone opens the page of a tag', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage());
  await till.ask('1.00');
  await thing(page, /^Hold the tag/).click();
  await page.getByText('That is this till’s own tag,').waitFor();
  await thing(page, /^Hold a bank card/).click();
  await page.getByText('Bank cards and tickets are not accepted.').waitFor();
  const opened = page.context().waitForEvent('page');
  await drag(page, /^Hold the phone/, '.thing-tag');
  await page.mouse.up();
  const tag = await opened;
  await tag.getByText('1.00').first().waitFor();
  assert.equal(tag.url(), terminal.tagUrl);
  assert.equal((await paymentsOf(sandbox, terminal)).length, 0);
  await till.close();
});

test('a live till has no simulated customer', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox, 'Live counter', 'live');
  const till = await openTill(browser, sandbox, { terminal, options: PHONE });
  await till.amount.fill('2.50');
  await till.charge.click();
  await till.cancel.or(till.page.getByRole('alert')).first().waitFor();
  assert.equal(await till.page.getByText('Virtual counter').count(), 0);
  await till.close();
});

test('a card with a PIN pays once its PIN is typed, and the PIN stays on the till', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage(), PHONE);
  const sent: string[] = [];
  page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
  await till.ask('2.50');
  const type = async (pin: string) => {
    await page.locator('.thing-pin.is-held').waitFor({ state: 'detached' });
    // Typed as fast as a reader types, and still not mistaken for a reader's input.
    await page.keyboard.type(pin);
    await page.keyboard.press('Enter');
  };
  await thing(page, /^Hold the PIN card/).press('Enter');
  await page.getByLabel('Card PIN').waitFor();
  await till.checkAccessibility();
  await type('nfc_4821482148214821');
  await thing(page, /^Hold the PIN card/).press('Enter');
  await page.getByText('That is not this card’s PIN.').waitFor();
  await type('1234');
  await thing(page, /^Hold the PIN card/).press('Enter');
  await till.result('Paid').waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.deepEqual(payment?.payment_method, { type: 'wallet', credential: 'chip' });
  assert.deepEqual(
    sent.filter((one) => one.includes('nfc_4821') || one.includes('"1234"')),
    [],
  );
  await till.close();
});

test('on an iPhone, Hold a card here asks for the card twice, and it pays', async () => {
  const account = await fundedAccount(stage().sandbox, 10_000_000n);
  const { sandbox, till, page, terminal } = await newTill(stage(), PHONE, {
    prepare: (opened) => addChipDialog(opened, haloChip(account, 'https://example.com/')),
  });
  await till.ask('2.50');
  await page.getByRole('button', { name: /^Hold a card here/ }).click();
  await till.checkAccessibility();
  await page.getByRole('button', { name: /^Hold it again/ }).click();
  await till.result('Paid').waitFor();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.deepEqual(payment?.payment_method, { type: 'wallet', credential: 'chip' });
  await till.close();
});
