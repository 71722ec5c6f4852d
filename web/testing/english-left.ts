import { withoutIsolates } from '#i18n/bidi-isolates.ts';
import { messageOf, TEXT_KEYS } from '#i18n/catalog.ts';
import type { TextLanguage } from '#i18n/languages.ts';
import { TESTED_LANGUAGE } from './tested-language.ts';

/** Returns the catalog's texts; for texts with values, returns their parts. */
function textsOf(language: TextLanguage): Set<string> {
  const messages = [...TEXT_KEYS].map((key) => messageOf(language, key));
  const parts = messages.flatMap((message) =>
    typeof message === 'string' ? [message] : JSON.stringify(message).split('"'),
  );
  return new Set(parts.map((part) => withoutIsolates(part).trim()));
}

/** Returns the shown texts that are in the English catalog and not in the tested language's. */
export function englishLeftIn(shown: readonly string[]): string[] {
  const [english, own] = [textsOf('en'), textsOf(TESTED_LANGUAGE)];
  return shown.filter((text) => english.has(text) && !own.has(text));
}
