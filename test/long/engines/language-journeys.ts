import assert from 'node:assert/strict';
import type { Language } from '#core/languages.ts';
import { type TextKey, writerFor } from '#texts/text.ts';
import { payAt } from '../../../web/testing/desk.ts';
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
  const found = await hands.evaluate<string>(`(() => {
    const { lang, dir, scrollWidth, clientWidth } = document.documentElement;
    return [lang, dir || 'ltr', Math.max(0, scrollWidth - clientWidth)].join();
  })()`);
  assert.equal(found, `${language},${direction},0`);
}

export const LANGUAGE_JOURNEYS: Journeys = {
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
    const { label, begins, says } = wordsIn('de');
    await hands.resize(820);
    await hands.goto(`${sandbox.web_url}/wallet?lang=de`);
    await hands.click('button', begins('wallet.create.button'));
    await hands.fill(label('wallet.password'), WALLET_PASSWORD);
    await hands.fill(label('wallet.password_repeat'), WALLET_PASSWORD);
    await hands.click('button', begins('wallet.create.button'));
    await hands.click('button', begins('wallet.faucet.button'));
    await hands.sees(/100,00/);
    await hands.sees(says('wallet.backup.open_button'));
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
