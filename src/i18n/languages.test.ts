import assert from 'node:assert/strict';
import { test } from 'node:test';
import bidiFactory from 'bidi-js';
import { priceText, usdcText } from '#core/sums.ts';

import { chooseLanguage, type LanguageWishes, localeOf, wishesOf } from '#i18n/languages.ts';

const OFFERED = ['en', 'de', 'pt', 'ja'] as const;

const CHOICES: readonly (readonly [wishes: LanguageWishes, chosen: string])[] = [
  [{}, 'en'],
  [{ accept: 'de' }, 'de'],
  [{ accept: 'de-CH,de;q=0.9' }, 'de'],
  [{ accept: 'pt-BR' }, 'pt'],
  [{ accept: 'en;q=0.4, ja;q=0.9' }, 'ja'],
  [{ accept: 'ja;q=0.5,de;q=0.5' }, 'ja'],
  [{ accept: 'de;q=0, ja;q=0.1' }, 'ja'],
  [{ accept: 'de;q=0', account: 'pt' }, 'pt'],
  [{ accept: 'it, *;q=0.5', account: 'ja' }, 'ja'],
  [{ accept: 'DE' }, 'de'],
  [{ accept: ';;;,q=1,de;q=2,de;q=x' }, 'en'],
  [{ account: 'fr' }, 'en'],
  [{ chosen: ['de'], accept: 'ja' }, 'de'],
  [{ chosen: ['pt-BR'], accept: 'ja' }, 'pt'],
  [{ chosen: ['xx', 'de'], accept: 'ja' }, 'de'],
  [{ chosen: ['', undefined], accept: 'ja' }, 'ja'],
  [{ chosen: ['qps'], accept: 'ja' }, 'ja'],
];

test('the first supported preference wins: address, browser, account, English', () => {
  for (const [wishes, chosen] of CHOICES) {
    assert.equal(chooseLanguage(wishes, OFFERED), chosen, JSON.stringify(wishes));
  }
});

test('a header of any length is parsed quickly', () => {
  const started = performance.now();
  assert.deepEqual(wishesOf(`${'de;q=0.1,'.repeat(200_000)}ja`), Array(32).fill('de'));
  assert.deepEqual(wishesOf('a-'.repeat(100_000)), []);
  assert.ok(performance.now() - started < 1_000);
});

const ARABIC = ['ar', 'ar-EG', 'ar-SA', 'ar-MA', 'ar-DZ', 'ar-SA-u-ca-islamic-nu-arab', 'qps'];

test('Arabic has Latin digits and the Gregorian calendar in every region', () => {
  for (const tag of ARABIC) {
    const locale = localeOf(tag);
    assert.equal(new Intl.NumberFormat(locale).resolvedOptions().numberingSystem, 'latn', tag);
    const { calendar, numberingSystem } = new Intl.DateTimeFormat(locale).resolvedOptions();
    assert.deepEqual([calendar, numberingSystem], ['gregory', 'latn'], tag);
  }
  assert.equal(new Intl.Locale(localeOf('ar-EG')).region, 'EG');
  for (const tag of ['en-GB', 'de-AT', 'ja', 'th-TH']) assert.equal(localeOf(tag), tag);
});

const bidi = (
  bidiFactory as unknown as () => {
    getEmbeddingLevels(text: string, direction: 'rtl'): { readonly levels: Uint8Array };
    getReorderedString(text: string, levels: object): string;
  }
)();

/** Returns a text as it looks from left to right within a page in Arabic. */
function looksOf(text: string): string {
  const shown = bidi.getReorderedString(text, bidi.getEmbeddingLevels(text, 'rtl'));
  return shown.replaceAll(/\p{Cf}/gu, '');
}

test('a negative sum in Arabic has its minus on the left of its digits, in every region', () => {
  for (const tag of ARABIC) {
    const locale = localeOf(tag);
    const sums = [
      priceText(-123_450, { currency: 'eur', locale }),
      priceText(-123_450n, { currency: 'sar', locale }),
      usdcText(-1_234_500_000n, locale),
    ];
    for (const sum of sums) assert.match(looksOf(sum), /(^|\s)−1[.,]234[.,]50(\s|$)/, tag);
  }
});
