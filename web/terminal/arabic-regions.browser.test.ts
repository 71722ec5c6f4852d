import assert from 'node:assert/strict';
import { test } from 'node:test';
import { present } from '#core/assert.ts';
import { writerFor } from '#i18n/text.ts';
import { sharedStage } from '../testing/stage.ts';
import { addTestTerminal, paymentsOf } from '../testing/till.ts';

const stage = sharedStage();

/** Digits other than 0 to 9, and years of the Islamic calendar. */
const OTHER_DIGITS = /(?![0-9])\p{Nd}|\b14[45]\d\b/u;

for (const locale of ['ar-EG', 'ar-SA', 'ar-MA']) {
  test(`${locale}: till, display, receipt and ticket have one kind of digits`, async () => {
    const { sandbox, browser } = stage();
    const terminal = await addTestTerminal(sandbox);
    const window = await browser.open({ locale });
    const { page, context } = window;
    const named = (name: string) => page.locator(`[data-name="${name}"]`);
    const check = async (shown = page) => {
      const text = await shown.locator('body').textContent();
      assert.doesNotMatch(text ?? '', OTHER_DIGITS);
      return text ?? '';
    };
    await page.goto(`${sandbox.web_url}/terminal#key=${terminal.deviceKey}`);
    await named('Start shift').click();
    await named('Amount').waitFor();
    assert.equal(await page.locator('html').getAttribute('lang'), 'ar');
    await page.locator('nav a[href="terminal/settings"]').click();
    const opened = context.waitForEvent('page');
    await page.getByRole('switch', { name: writerFor('ar').text('till.settings.display') }).click();
    const display = await opened;
    await page.locator('nav a[href="terminal/keypad"]').click();
    await named('Amount').fill('4.50');
    await named('Charge').click();
    await named('Test pass').waitFor();
    const total = locale === 'ar-MA' ? '4,52' : '4.52';
    await display.getByText(total).first().waitFor();
    assert.ok((await check()).includes(total));
    await check(display);
    await named('Test pass').selectOption('ok');
    await page.locator('[data-result="Paid"]').waitFor();
    assert.ok((await check()).includes(total));
    await page.locator('nav a[href="terminal/history"]').click();
    await page.locator('a.entry').first().waitFor();
    await check();
    const [payment] = await paymentsOf(sandbox, terminal);
    const receipt = String(present(payment, 'the payment').receipt_url);
    await page.goto(receipt);
    assert.ok((await check()).includes('4.50'));
    const ticket = await (await fetch(`${receipt}.txt?lang=ar`)).text();
    assert.ok(ticket.includes('4.50'));
    assert.doesNotMatch(ticket, OTHER_DIGITS);
    await window.close();
  });
}
