import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { LANGUAGES } from '#i18n/languages.ts';

/**
 * The glossary of `texts/terms/`, as patterns: per term its English words and, per language, how
 * its one word begins. `without` names entries whose sentence needs no such word.
 */
const { terms, without } = read('terms/words') as {
  readonly terms: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly without: Readonly<Record<string, readonly string[]>>;
};
/** Names of arguments, such as `{wallet}`, are no words. */
const ARGUMENT = /\{\w+(, \w+)?\}/g;
/** Fewer would mean that the patterns match nothing. */
const FEWEST = 500;

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`../texts/${name}.json`, import.meta.url), 'utf8'));
}

const textsOf = (language: string) => read(language) as Readonly<Record<string, string>>;
const english = Object.entries(textsOf('en')).filter(([key]) => !key.startsWith('@'));

for (const language of LANGUAGES.filter((one) => one !== 'en')) {
  test(`one word for each term of a shop: ${language}`, () => {
    const texts = textsOf(language);
    let checked = 0;
    const others = new Set<string>();
    for (const [term, words] of Object.entries(terms)) {
      const own = new RegExp(words[language] ?? assert.fail(`${term} has no word`), 'i');
      const named = new RegExp(words.english ?? '', 'i');
      for (const [key, text] of english) {
        const translated = texts[key];
        if (translated === undefined || !named.test(text.replaceAll(ARGUMENT, ''))) continue;
        checked++;
        if (!own.test(translated)) others.add(key);
      }
    }
    assert.deepEqual([...others].toSorted(), without[language]);
    assert.ok(checked >= FEWEST, `only ${checked} entries`);
  });
}
