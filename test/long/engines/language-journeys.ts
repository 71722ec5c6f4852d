import assert from 'node:assert/strict';
import type { Language } from '#i18n/languages.ts';
import { type TextKey, writerFor } from '#i18n/text.ts';
import { payAt } from '../../../web/testing/desk.ts';
import { BAD_LINES } from '../../../web/testing/japanese-lines.ts';
import { addTestTerminal, paymentsOf } from '../../../web/testing/till.ts';
import { WALLET_PASSWORD } from '../../../web/testing/wallet.ts';
import type { Hands } from './hands.ts';
import type { Journeys } from './journey.ts';

/** Journeys in languages that differ from English: right to left, long words, other scripts. */

interface Words {
  /** Returns the text, to find a control by its exact label. */
  label(key: TextKey): string;
  /** Returns a pattern for a control or text that begins with the text. */
  begins(key: TextKey): RegExp;
  /** Returns a pattern for a page that contains the text. */
  says(key: TextKey): RegExp;
}

function wordsIn(language: Language): Words {
  const writer = writerFor(language);
  const label = (key: TextKey) => writer.text(key);
  const pattern = (key: TextKey) => label(key).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return {
    label,
    begins: (key) => new RegExp(`^${pattern(key)}`),
    says: (key) => new RegExp(pattern(key)),
  };
}

async function checkPage(hands: Hands, language: Language, direction: string): Promise<void> {
  const result = await hands.evaluate<string>(`(() => {
    const { lang, dir, scrollWidth, clientWidth } = document.documentElement;
    return [lang, dir || 'ltr', Math.max(0, scrollWidth - clientWidth)].join();
  })()`);
  assert.equal(result, `${language},${direction},0`);
}

/** Digits other than 0 to 9, and years of the Islamic calendar. */
const OTHER_DIGITS = /(?![0-9])\p{Nd}|\b14[45]\d\b/u;

export const LANGUAGE_JOURNEYS: Journeys = {
  'Japanese lines of till and wallet break by the strict rules': async (hands, { sandbox }) => {
    const { label, begins, says } = wordsIn('ja');
    const own = await addTestTerminal(sandbox, '二階のレジ');
    const check = async () => assert.deepEqual(await hands.evaluate(BAD_LINES), []);
    // A phone; a tablet in WebKit, whose window cannot be narrower.
    if (!(await hands.resize(320))) await hands.resize(820);
    await hands.goto(`${sandbox.web_url}/terminal?lang=ja#key=${own.deviceKey}`);
    await hands.click('button', begins('till.start.button'));
    await hands.fill(label('till.amount'), '12.50');
    await check();
    await hands.click('button', begins('till.charge.button'));
    await hands.sees(says('till.waiting.test_pass'));
    await check();
    await hands.choose(label('till.waiting.test_pass'), 'insufficient_funds');
    await hands.sees(says('till.outcome.declined'));
    await check();
    await hands.choose(label('till.waiting.test_pass'), 'ok');
    await hands.sees(says('till.outcome.paid'));
    await check();
    await hands.goto(`${sandbox.web_url}/wallet?lang=ja`);
    await hands.sees(says('wallet.create.button'));
    await check();
  },
  'a sale of Arabic regions has one kind of digits': async (hands, { sandbox }) => {
    const { label, begins, says } = wordsIn('ar');
    for (const locale of ['ar-EG', 'ar-SA', 'ar-MA']) {
      const isRegion = await hands.useLocale(locale);
      const own = await addTestTerminal(sandbox);
      const check = async () =>
        assert.doesNotMatch(await hands.evaluate('document.body.innerText'), OTHER_DIGITS);
      await hands.goto(`${sandbox.web_url}/terminal?lang=ar#key=${own.deviceKey}`);
      await hands.click('button', begins('till.start.button'));
      await hands.fill(label('till.amount'), '4.50');
      await hands.click('button', begins('till.charge.button'));
      await hands.sees(says('till.waiting.test_pass'));
      await check();
      await hands.choose(label('till.waiting.test_pass'), 'ok');
      await hands.sees(says('till.outcome.paid'));
      await check();
      const [payment] = await paymentsOf(sandbox, own);
      await hands.goto(`${payment?.receipt_url}?lang=ar`);
      await hands.sees(/4[.,]50/);
      await check();
      // WebKit's driver knows no regions, so that the others would be the same.
      if (!isRegion) return;
    }
  },
  'a sale in Arabic, from right to left': async (hands, { sandbox }) => {
    const { label, begins, says } = wordsIn('ar');
    const own = await addTestTerminal(sandbox);
    await hands.resize(820);
    await hands.goto(`${sandbox.web_url}/terminal?lang=ar#key=${own.deviceKey}`);
    await hands.click('button', begins('till.start.button'));
    await hands.fill(label('till.amount'), '2.50');
    await checkPage(hands, 'ar', 'rtl');
    await hands.click('button', begins('till.charge.button'));
    await hands.choose(label('till.waiting.test_pass'), 'ok');
    await hands.sees(says('till.outcome.paid'));
    await checkPage(hands, 'ar', 'rtl');
    const [payment] = await paymentsOf(sandbox, own);
    assert.equal(payment?.amount, 2_500_000);
  },
  'a wallet is made and filled in German': async (hands, { sandbox }) => {
    const { label, begins } = wordsIn('de');
    await hands.resize(820);
    await hands.goto(`${sandbox.web_url}/wallet?lang=de`);
    await hands.click('button', begins('wallet.create.button'));
    await hands.fill(label('wallet.password'), WALLET_PASSWORD);
    await hands.fill(label('wallet.password_repeat'), WALLET_PASSWORD);
    await hands.click('button', begins('wallet.create.button'));
    await hands.click('button', begins('wallet.faucet.button'));
    await hands.sees(/100,00/);
    await checkPage(hands, 'de', 'ltr');
  },
  'a receipt in Japanese is checked with the chain': async (hands, { sandbox, terminal }) => {
    const { says } = wordsIn('ja');
    const { payment } = await payAt(sandbox, { terminal: terminal.id, amount: 4_000_000 });
    const paid = (await paymentsOf(sandbox, terminal)).find(({ id }) => id === payment);
    await hands.resize(820);
    await hands.goto(`${paid?.receipt_url}?lang=ja`);
    await hands.sees(says('receipt.check.proven'));
    await checkPage(hands, 'ja', 'ltr');
  },
};
