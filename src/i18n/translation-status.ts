import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { TEXT_KEYS, textIn, WRITTEN_LANGUAGES } from '#i18n/catalog.ts';
import { FALLBACK_LANGUAGE, type TextLanguage } from '#i18n/languages.ts';

/**
 * Finds texts that a language lacks, and translations of English lines that have changed since.
 */

/**
 * The content of `texts/translated-from.json`: the hash of the English line that each text was
 * translated from. One hash if it is the same in all languages.
 */
export type Sources = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

export const SOURCES_FILE = path.join(import.meta.dirname, '../../texts/translated-from.json');

export function readSources(): Sources {
  return JSON.parse(readFileSync(SOURCES_FILE, 'utf8')) as Sources;
}

export interface Translation {
  readonly language: TextLanguage;
  readonly key: string;
}

/** Enough to notice a change, and short enough to read in a difference. */
const HASH_LENGTH = 8;

function hashOf(key: string): string {
  const line = textIn(FALLBACK_LANGUAGE, key) ?? '';
  return createHash('sha256').update(line).digest('hex').slice(0, HASH_LENGTH);
}

const ALL: readonly Translation[] = WRITTEN_LANGUAGES.filter(
  (language) => language !== FALLBACK_LANGUAGE,
).flatMap((language) => [...TEXT_KEYS].map((key) => ({ language, key })));

const isWritten = ({ language, key }: Translation) => textIn(language, key) !== undefined;

export function missingTexts(): readonly Translation[] {
  return ALL.filter((one) => !isWritten(one));
}

function sourceOf(sources: Sources, { language, key }: Translation): string | undefined {
  const source = sources[key];
  return typeof source === 'object' ? source[language] : source;
}

/** Returns the translations whose English line has changed, or whose source is not recorded. */
export function staleTexts(sources: Sources): readonly Translation[] {
  return ALL.filter((one) => isWritten(one) && sourceOf(sources, one) !== hashOf(one.key));
}

/**
 * Records the sources of translations that have none, and of those that were translated again.
 * Drops those of texts that are gone.
 */
export function recordSources(
  sources: Sources,
  isTranslatedAgain: (translation: Translation) => boolean,
): Sources {
  const written = Map.groupBy(ALL.filter(isWritten), ({ key }) => key);
  return Object.fromEntries(
    [...written].map(([key, translations]) => {
      const hashes = translations.map((one) => {
        const known = isTranslatedAgain(one) ? undefined : sourceOf(sources, one);
        return [one.language, known ?? hashOf(key)] as const;
      });
      const [[, first] = ['', '']] = hashes;
      const isSame = hashes.every(([, hash]) => hash === first);
      return [key, isSame ? first : Object.fromEntries(hashes)];
    }),
  );
}

/** Describes what translators have to do: a line for each language and kind. */
export function describeTexts(sources: Sources): string[] {
  return [
    ...listed(missingTexts()).map((line) => `missing, shown in English: ${line}`),
    ...listed(staleTexts(sources)).map((line) => `stale, English has changed: ${line}`),
  ];
}

/** `de (2): pay.button, till.*`, a line for each language. `.*`: all texts that begin so. */
export function listed(translations: readonly Translation[]): string[] {
  const family = (key: string) => key.slice(0, key.indexOf('.'));
  const sizes = Map.groupBy(TEXT_KEYS, family);
  return [...Map.groupBy(translations, ({ language }) => language)].map(([language, texts]) => {
    const families = Map.groupBy(
      texts.map(({ key }) => key),
      family,
    );
    const names = [...families].flatMap(([name, keys]) =>
      keys.length === sizes.get(name)?.length ? [`${name}.*`] : keys,
    );
    return `${language} (${texts.length}): ${names.join(', ')}`;
  });
}
