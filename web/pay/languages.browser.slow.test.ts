import assert from 'node:assert/strict';
import { test } from 'node:test';
import { languageTag } from '#i18n/languages.ts';
import { NARROW, type TestWindow } from '../testing/browser.ts';
import { englishLeftIn } from '../testing/english-left.ts';
import { askForPayment, fundedAccount, injectWallet } from '../testing/payer.ts';
import { checkPseudoLanguage } from '../testing/pseudo-language.ts';
import { sharedStage } from '../testing/stage.ts';
import { TESTED_LANGUAGE } from '../testing/tested-language.ts';
import { addTestTerminal, paymentsOf } from '../testing/till.ts';

/**
 * Tests the customer screens in the pseudo-language, which is longer than English and runs right to
 * left.
 */

const TIPPING = { tipping: { percentages: [10, 15] } };

const stage = sharedStage();

const control = ({ page }: TestWindow, name: string) => page.locator(`[data-name="${name}"]`);
const result = ({ page }: TestWindow, name: string) => page.locator(`[data-result="${name}"]`);

test('a payment is translated and fits, from its tip to its receipt', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { url } = await askForPayment(sandbox, terminal, TIPPING);
  const window = await browser.open(NARROW);
  await injectWallet(window, sandbox, await fundedAccount(sandbox, 5_000_000n));
  await window.page.goto(`${url}?lang=${TESTED_LANGUAGE}`);
  await control(window, 'No tip').waitFor();
  await checkPseudoLanguage(window);
  await window.page.getByRole('radio').first().click();
  await control(window, 'Add tip').click();
  await control(window, 'Pay').waitFor();
  await checkPseudoLanguage(window);
  await control(window, 'Pay').click();
  await result(window, 'Paid').waitFor();
  await checkPseudoLanguage(window);
  window.checkClean();
  const [payment] = await paymentsOf(sandbox, terminal);
  assert.equal(payment?.tip, 250_000);
  // The receipt uses the payment's language.
  await window.page.locator('a[href*="/receipts/"]').click();
  await window.page.locator('#verdict.good, #verdict.plain').waitFor();
  await checkPseudoLanguage(window);
  await window.close();
  await checkForms(String(payment?.receipt_url));
});

/**
 * Checks that each format of a receipt uses the language in its URL, or else the browser's
 * language.
 */
async function checkForms(receipt: string): Promise<void> {
  for (const form of ['', '.txt']) {
    const reply = await fetch(`${receipt}${form}?lang=${TESTED_LANGUAGE}`);
    const browser = await fetch(`${receipt}${form}`, {
      headers: { 'Accept-Language': `xx, ${TESTED_LANGUAGE}` },
    });
    for (const answer of [reply, browser]) {
      assert.equal(answer.headers.get('content-language'), TESTED_LANGUAGE, form);
      assert.match(String(answer.headers.get('vary')), /Accept-Language/, form);
    }
    const other = await fetch(`${receipt}${form}?lang=en`, {
      headers: { 'Accept-Language': TESTED_LANGUAGE },
    });
    assert.equal(other.headers.get('content-language'), 'en', form);
  }
  const text = await (await fetch(`${receipt}.txt?lang=${TESTED_LANGUAGE}`)).text();
  // The English words to look for. `englishLeftIn` ignores words that the tested language shares,
  // such as the French "Transaction".
  const words = text.match(/\b(?:Paid|Receipt|Transaction|Sale)\b/g) ?? [];
  assert.deepEqual(englishLeftIn(words), [], text);
}

test('a decline, an unknown link and a missing wallet are translated and fit', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const { url } = await askForPayment(sandbox, terminal);
  const window = await browser.open(NARROW);
  await window.page.goto(`${sandbox.web_url}/pay/0000000000000000000000?lang=${TESTED_LANGUAGE}`);
  await window.page.getByRole('heading').waitFor();
  await checkPseudoLanguage(window);
  await window.page.goto(`${url}?lang=${TESTED_LANGUAGE}`);
  await window.page.getByRole('link').first().waitFor();
  await checkPseudoLanguage(window);
  const wallet = await injectWallet(window, sandbox, await fundedAccount(sandbox, 0n));
  wallet.told = 5_000_000n;
  await window.page.reload();
  await control(window, 'Pay').click();
  await result(window, 'Declined').waitFor();
  await checkPseudoLanguage(window);
  await window.close();
});

test('the page of a tag is translated and fits, with and without a payment', async () => {
  const { sandbox, browser } = stage();
  const terminal = await addTestTerminal(sandbox);
  const window = await browser.open(NARROW);
  await window.page.goto(`${terminal.tagUrl}?lang=${TESTED_LANGUAGE}`);
  await window.page.getByRole('status').first().waitFor();
  await checkPseudoLanguage(window);
  await askForPayment(sandbox, terminal);
  await window.page.getByRole('link').first().waitFor();
  await checkPseudoLanguage(window);
  await window.page.goto(`${terminal.tagUrl.slice(0, -1)}~?lang=${TESTED_LANGUAGE}`);
  await window.page.getByRole('heading').waitFor();
  assert.equal(
    await window.page.locator('html').getAttribute('lang'),
    languageTag(TESTED_LANGUAGE),
  );
  await window.close();
});
