import { messageOf, TEXT_KEYS } from '#texts/catalog.ts';
import { TESTED_LANGUAGE } from './tested-language.ts';

function textsOf(language: Parameters<typeof messageOf>[0]): Set<string> {
  const messages = [...TEXT_KEYS].map((key) => messageOf(language, key));
  return new Set(messages.filter((message) => typeof message === 'string'));
}

/** Returns the texts that are English ones of the catalog, and none of the tested language. */
export function englishLeftIn(shown: readonly string[]): string[] {
  const [english, own] = [textsOf('en'), textsOf(TESTED_LANGUAGE)];
  return shown.filter((text) => english.has(text) && !own.has(text));
}
