import assert from 'node:assert/strict';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { NARROW, PHONE } from '../testing/browser.ts';
import { signInAt } from '../testing/desk.ts';
import { payLinkOf } from '../testing/payer.ts';
import { fits, quotedOf, shows, usdc } from '../testing/priced.ts';
import { checkPseudoLanguage } from '../testing/pseudo-language.ts';
import { ownStage } from '../testing/stage.ts';
import {
  addCatalogueItem,
  addTestTerminal,
  intentsOf,
  newTill,
  openDisplay,
  paymentsOf,
  postAsMerchant,
  setShop,
} from '../testing/till.ts';

/** Uses a private sandbox, because the currency applies to the whole account. */
const stage = ownStage(({ sandbox }) => setShop(sandbox, { currency: 'eur' }));

test('a refund of a sale in euros is typed and shown in euros', async () => {
  const { till, page, terminal } = await newTill(stage(), PHONE);
  await till.ask('2.50');
  const [intent] = await intentsOf(stage().sandbox, terminal);
  await till.pay();
  await till.newPayment.click();
  await page.getByRole('button', { name: 'Last payment' }).click();
  await page.getByRole('button', { name: /^Refund/ }).click();
  const dialog = page.getByRole('dialog');
  const amount = dialog.getByRole('textbox', { name: 'Amount' });
  assert.equal(await amount.inputValue(), '2.50');
  await amount.fill('2.505');
  await dialog
    .getByText('At most 2 decimals.')
    .or(dialog.getByText(/^Write 2505/))
    .waitFor();
  await amount.fill('1.00');
  await dialog.getByRole('button', { name: 'Refund €1.00', exact: true }).click();
  await page.getByText('Refunded', { exact: true }).first().waitFor();
  const [payment] = await paymentsOf(stage().sandbox, terminal);
  const expected = Math.floor((Number(intent?.amount) * 100) / 250);
  assert.equal(payment?.amount_refunded, expected);
  await shows(page, '€1.00', usdc(expected));
  // Refunds the rest that earlier refunds have left.
  await page.getByRole('button', { name: /^Refund/ }).click();
  await dialog.getByRole('button', { name: 'Refund €1.50', exact: true }).click();
  await page.getByText('Refunded', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: /^Refund/ }).waitFor({ state: 'detached' });
  const [whole] = await paymentsOf(stage().sandbox, terminal);
  assert.equal(whole?.amount_refunded, whole?.amount);
  await page
    .getByRole('link', { name: 'Shift totals' })
    .or(page.getByRole('link', { name: 'Totals' }))
    .click();
  await shows(page, 'Priced in EUR', '€2.50');
  await till.checkAccessibility();
  till.checkClean();
  await till.close();
});

test('a tip is in the currency of its sale; the customer’s display shows both sums', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage(), PHONE);
  const display = await openDisplay(till);
  await page.getByRole('link', { name: 'Keypad' }).click();
  await postAsMerchant(sandbox, '/payment_intents', {
    presentment: { currency: 'eur', amount: 2_000 },
    terminal: terminal.id,
    tipping: { percentages: [10, 15] },
  });
  await display.getByRole('radio', { name: /^15 %.*€3\.00/ }).check();
  await display.getByRole('button', { name: /^Add tip.*€23\.00/ }).click();
  await display.getByText('with your tip').waitFor();
  const [intent] = await intentsOf(sandbox, terminal);
  await shows(display, 'Total', '€23.10', '€0.10');
  await till.pay();
  const [payment] = await paymentsOf(sandbox, terminal);
  const paid = quotedOf(payment);
  assert.deepEqual([paid.amount, paid.tip_amount], [2_000, 300]);
  await shows(display, '€23.10');
  assert.ok(Number(payment?.amount) > Number(intent?.amount));
  const desk = await stage().browser.open();
  await signInAt(desk, { sandbox, path: 'dashboard/payments' });
  await desk.page.locator('.sale-tip').getByText('€3.00', { exact: true }).waitFor();
  desk.checkClean();
  await desk.close();
  till.checkClean();
  await till.close();
});

test('yen have no decimals, dinars have three, and a split bill keeps its currency', async () => {
  const { sandbox, till, page, terminal } = await newTill(stage(), NARROW);
  await setShop(sandbox, { currency: 'jpy' });
  await page.reload();
  await page.getByRole('button', { name: '7', exact: true }).waitFor();
  await till.amount.fill('1.000');
  await page.getByRole('button', { name: 'Charge ¥1,000', exact: true }).waitFor();
  assert.equal(await page.getByRole('button', { name: '.', exact: true }).count(), 0);
  await till.amount.fill('2.50');
  await page.getByText('This currency has no decimals.').waitFor();
  await till.amount.fill('1000');
  await page.getByRole('button', { name: 'Split the bill' }).click();
  await page
    .getByRole('combobox', { name: 'People' })
    .selectOption('3')
    .catch(() => {});
  await page.getByRole('button', { name: /^Equal parts/ }).click();
  await page.getByRole('button', { name: /^Charge ¥/ }).waitFor();
  await fits(page);
  await till.charge.click();
  await till.pay();
  await till.newPayment.click();
  // The rest of the bill stays in yen, even if the shop's currency has changed.
  await setShop(sandbox, { currency: 'kwd' });
  await page.reload();
  await page.getByRole('button', { name: /^Charge ¥/ }).waitFor();
  await page.getByRole('button', { name: /^End/ }).click();
  await till.amount.fill('1.250');
  await page.getByRole('button', { name: /^Charge KWD\s1\.250$/ }).click();
  await till.testPass.waitFor();
  assert.equal(quotedOf((await intentsOf(sandbox, terminal))[0]).amount, 1_250);
  await fits(page);
  await till.cancel.click();
  await setShop(sandbox, { currency: 'eur' });
  till.checkClean();
  await till.close();
});

test('digits typed in one currency never become a sum of another', async () => {
  const { sandbox } = stage();
  await setShop(sandbox, { currency: 'jpy' });
  const { till, page } = await newTill(stage(), NARROW);
  await till.amount.fill('1250');
  await page.getByRole('button', { name: 'Charge ¥1,250', exact: true }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Charge ¥1,250', exact: true }).waitFor();
  await setShop(sandbox, { currency: 'kwd' });
  // The service refuses the first request for the terminal, and answers the second.
  let requests = 0;
  await page.route('**/api/device/v1/terminal', (route) => {
    requests += 1;
    if (requests === 1) {
      const error = { type: 'api_error', code: 'rate_limit_exceeded', message: 'Later.' };
      return route.fulfill({ status: 429, json: { error } });
    }
    return route.fallback();
  });
  await page.reload();
  // Until then the digits stay, but do not form an amount that could be charged.
  assert.equal(await till.amount.inputValue(), '1250');
  assert.equal(await till.charge.isDisabled(), true);
  assert.equal((await till.charge.textContent())?.trim(), 'Charge');
  await page.getByRole('alert').filter({ hasText: 'Enter the amount again' }).waitFor();
  assert.equal(await till.amount.inputValue(), '');
  assert.equal(await till.charge.isDisabled(), true);
  await fits(page);
  await till.checkAccessibility();
  await till.amount.fill('1.250');
  await page.getByRole('button', { name: /^Charge KWD\s1\.250$/ }).waitFor();
  assert.equal(await page.getByText('Enter the amount again').count(), 0);
  // Digits typed before the currency is known get the currency that the service sends.
  requests = 0;
  await page.reload();
  await till.amount.fill('2.5');
  await page.getByRole('button', { name: /^Charge KWD\s2\.500$/ }).waitFor();
  await setShop(sandbox, { currency: 'eur' });
  till.checkClean(/429/);
  await till.close();
});

test('pay page and dashboard show both sums of a sale', async () => {
  const { sandbox, browser, till, terminal } = await newTill(stage(), PHONE);
  await till.ask('12.34');
  const [open] = await intentsOf(sandbox, terminal);
  const pay = await browser.open(PHONE);
  await pay.page.goto(await payLinkOf(sandbox, terminal, open?.id));
  const { total = 0 } = quotedOf(open);
  assert.ok(total > 1_234, `a total of ${total}`);
  await shows(pay.page, '€12.34', `€${(total / 100).toFixed(2)}`);
  await fits(pay.page);
  await pay.checkAccessibility();
  pay.checkClean();
  await pay.close();
  await till.pay();
  const [payment] = await paymentsOf(sandbox, terminal);
  const desk = await browser.open();
  await signInAt(desk, { sandbox, path: `dashboard/payments/${payment?.id}` });
  const { page } = desk;
  await shows(page, '€12.34', `€${(total / 100).toFixed(2)}`, usdc(payment?.amount));
  await page.getByText('€1 = ').first().waitFor();
  await page.getByRole('button', { name: /^Refund/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Amount' }).fill('2.34');
  await dialog.getByRole('button', { name: 'Refund €2.34', exact: true }).click();
  await dialog.getByText('Refunded', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  for (const path of ['payments', 'refunds', 'intents', '']) {
    await page.goto(`${sandbox.web_url}/dashboard/${path}`);
    await page
      .getByText(path === 'refunds' ? '€2.34' : `€${(total / 100).toFixed(2)}`)
      .first()
      .waitFor();
    await desk.checkAccessibility();
  }
  await page.getByText(/^At €1 = /).waitFor();
  desk.checkClean();
  await desk.close();
  till.checkClean();
  await till.close();
});

/** A name of the maximum length that the catalog accepts. */
const LONG_NAME = 'Donaudampfschifffahrtsgesellschaftstorte mit Sahne '
  .repeat(4)
  .slice(0, 200)
  .trim();

/** Code that returns the words that are broken over several lines. */
const BROKEN_WORDS = `[...document.querySelectorAll('.keypad-more > *')].flatMap((link) => {
  const texts = document.createTreeWalker(link, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
    for (const { 0: word, index } of text.data.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + word.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(word);
    }
  return broken;
})`;

/** Code that returns the texts that overflow their box. */
const OUTSIDE = `[['.outcome', '*'], ['.result-facts', '.amount']].flatMap(([box, parts]) => {
  const { left, right, top, bottom } = document.querySelector(box).getBoundingClientRect();
  return [...document.querySelectorAll(box + ' ' + parts)]
    .map((part) => ({ part, at: part.getBoundingClientRect() }))
    .filter(({ at }) => at.top < top - 1 || at.bottom > bottom + 1 ||
      at.left < left - 1 || at.right > right + 1)
    .map(({ part }) => part.textContent);
})`;

test('in the double font on a narrow phone, no word breaks and items can be tapped', async () => {
  const { sandbox } = stage();
  await addCatalogueItem(sandbox, { name: LONG_NAME, unit_amount: 950, currency: 'eur' });
  await addCatalogueItem(sandbox, { name: 'Water', unit_amount: 120, currency: 'eur' });
  const { till, page } = await newTill(stage(), NARROW);
  const twice = () => page.evaluate(`document.documentElement.style.fontSize = '200%'`);
  await twice();
  await page.getByRole('link', { name: 'Keypad' }).click();
  await till.amount.fill('2.50');
  await page.getByRole('button', { name: 'Split the bill' }).waitFor();
  assert.deepEqual(await page.evaluate(BROKEN_WORDS), []);
  await page.getByRole('link', { name: /^Catalogue/ }).click();
  await page.getByRole('button', { name: /^Donau/ }).click();
  await page.getByRole('button', { name: /^Water/ }).click();
  const cart = page.getByRole('region', { name: 'Cart' });
  const { height } = present(await cart.boundingBox(), 'cart');
  assert.ok(height <= NARROW.viewport.height * 0.61, `the cart takes ${height} px`);
  await cart.getByRole('button', { name: `Add one: ${LONG_NAME}` }).click();
  await page.getByRole('button', { name: 'Charge €20.20', exact: true }).waitFor();
  await fits(page);
  await page.evaluate(`document.documentElement.style.fontSize = ''`);
  const name = present(await cart.locator('.cart-name').first().boundingBox(), 'name');
  assert.ok(name.height < 60, `a long name takes ${name.height} px`);
  const tops = await cart
    .locator('.cart-line')
    .last()
    .locator('.cart-button')
    .evaluateAll((buttons) => buttons.map((button) => button.getBoundingClientRect().top));
  assert.equal(new Set(tops).size, 1, 'both buttons of a line stand side by side');
  await twice();
  await till.charge.click();
  await till.pay();
  await page.getByText('You get').waitFor();
  assert.deepEqual(await page.evaluate(OUTSIDE), []);
  await fits(page);
  till.checkClean();
  await till.close();
});

test('in the pseudo-language, prices keep sums and names, and fit a narrow phone', async () => {
  const { sandbox, browser } = stage();
  await addCatalogueItem(sandbox, { name: 'Scone', unit_amount: 310, currency: 'eur' });
  const terminal = await addTestTerminal(sandbox);
  const till = await browser.open(NARROW);
  const url = sandbox.web_url;
  await till.context.addCookies([{ name: 'tapline_language', value: 'qps', url }]);
  const { page } = till;
  const check = () => checkPseudoLanguage(till, ['Scone']);
  const control = (name: string) => page.locator(`[data-name="${name}"]`);
  await page.goto(`${url}/terminal#key=${terminal.deviceKey}`);
  await control('Start shift').click();
  await control('Keypad').click();
  await control('Amount').fill('2.50');
  await check();
  await control('Catalogue').click();
  await page.getByRole('button', { name: /^Scone/ }).click();
  await control('Cart').locator('.cart-edit').last().click();
  await page.getByRole('dialog').getByRole('textbox').last().fill('4');
  await check();
  await page.getByRole('dialog').getByRole('textbox').last().fill('0.10');
  await page.getByRole('dialog').locator('[type="submit"]').click();
  await check();
  await control('Charge').click();
  await control('Test pass').waitFor();
  await check();
  await control('Test pass').selectOption('ok');
  await page.locator('[data-result="Paid"]').waitFor();
  await till.idle();
  await check();
  for (const position of ['totals', 'history']) {
    await page.locator(`nav a[href="terminal/${position}"]`).click();
    await till.idle();
    await check();
  }
  await page.locator('a.entry').first().click();
  await control('Refund').click();
  await check();
  const [payment] = await paymentsOf(sandbox, terminal);
  await page.goto(`${payment?.receipt_url}?lang=qps`);
  await page.locator('#verdict.good, #verdict.plain').waitFor();
  await check();
  till.checkClean();
  await till.close();
});
