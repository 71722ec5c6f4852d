import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseLanguage, type LanguageWishes, wishesOf } from '#core/languages.ts';

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
