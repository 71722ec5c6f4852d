import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type MessageFormatElement, parse, TYPE } from '@formatjs/icu-messageformat-parser';
import { printAST } from '@formatjs/icu-messageformat-parser/printer.js';
import compile from 'icu-minify/compile';
import { named } from '#i18n/bidi-isolates.ts';
import { LANGUAGES, PSEUDO_LANGUAGE, type TextLanguage } from '#i18n/languages.ts';
import { pseudoText } from '#i18n/pseudo-language.ts';
import type { CompiledMessage } from '#i18n/text-format.ts';

/**
 * The texts of all screens for shops and customers: `texts/<language>.json`, one file per language
 * in ICU MessageFormat. A key that begins with `@` is a comment for translators.
 */
const FOLDER = path.join(import.meta.dirname, '../../texts');

type Texts = Readonly<Record<string, string>>;
export type Messages = Readonly<Record<string, CompiledMessage>>;

/** Returns the texts without their comments; `null` if the language has no file. */
function readTexts(language: TextLanguage): Texts | null {
  try {
    const all: Texts = JSON.parse(readFileSync(path.join(FOLDER, `${language}.json`), 'utf8'));
    return Object.fromEntries(Object.entries(all).filter(([key]) => !key.startsWith('@')));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw new Error(`texts/${language}.json cannot be read`, { cause: error });
  }
}

function readAll(): ReadonlyMap<TextLanguage, Texts> {
  const byLanguage = new Map<TextLanguage, Texts>();
  for (const language of LANGUAGES) {
    const texts = readTexts(language);
    if (texts !== null) byLanguage.set(language, texts);
  }
  return byLanguage;
}

const WRITTEN = readAll();
const ENGLISH: Texts = WRITTEN.get('en') ?? {};

export const TEXT_KEYS: ReadonlySet<string> = new Set(Object.keys(ENGLISH));

/** Languages that have a file. */
export const WRITTEN_LANGUAGES: readonly TextLanguage[] = [...WRITTEN.keys()];

export function textIn(language: TextLanguage, key: string): string | undefined {
  return WRITTEN.get(language)?.[key];
}

/**
 * The largest part of an app's texts that a language may lack: new texts wait for a translator and
 * are shown in English, but an app that is mostly English is not offered as translated.
 */
const MOST_LACKING = 0.1;

/** True if an app with these texts is offered in the language. */
export function isOffered(language: TextLanguage, keys: readonly string[]): boolean {
  if (language === PSEUDO_LANGUAGE) return true;
  const lacking = keys.filter((key) => textIn(language, key) === undefined);
  return lacking.length <= keys.length * MOST_LACKING;
}

/** Outside production, they include the pseudo-language, for testing the screens. */
export function offeredLanguages(production: boolean): readonly TextLanguage[] {
  return production ? WRITTEN_LANGUAGES : [...WRITTEN_LANGUAGES, PSEUDO_LANGUAGE];
}

type Change = (text: string) => string;

/** Applies a change to each text part of a message, and wraps each value in Unicode isolates. */
function prepared(
  elements: readonly MessageFormatElement[],
  change: Change,
): MessageFormatElement[] {
  return elements.flatMap((element): MessageFormatElement[] => {
    switch (element.type) {
      case TYPE.literal:
        return [{ ...element, value: change(element.value) }];
      case TYPE.argument: {
        const [before = '', after = ''] = named('|').split('|');
        const literal = (value: string) => ({ type: TYPE.literal, value }) as const;
        return [literal(before), element, literal(after)];
      }
      case TYPE.select:
      case TYPE.plural: {
        const options = Object.entries(element.options).map(([name, { value }]) => [
          name,
          { value: prepared(value, change) },
        ]);
        return [{ ...element, options: Object.fromEntries(options) } as MessageFormatElement];
      }
      case TYPE.tag:
        return [{ ...element, children: prepared(element.children, change) }];
      default:
        return [element];
    }
  });
}

const unchanged: Change = (text) => text;

/** Matches texts with placeholders, tags or quoting, which need parsing. */
const IS_WRITTEN_FOR_VALUES = /[{}<>']/;

function compiled(text: string, change: Change): CompiledMessage {
  // Most texts contain no placeholders or tags, so they need no parsing.
  if (!IS_WRITTEN_FOR_VALUES.test(text)) return change(text);
  return compile(printAST(prepared(parse(text), change)));
}

const kept = new Map<string, CompiledMessage>();

/** Returns the compiled message of a text, in English if the language lacks it. */
export function messageOf(language: TextLanguage, key: string): CompiledMessage {
  const name = `${language} ${key}`;
  const known = kept.get(name);
  if (known !== undefined) return known;
  const text = textIn(language, key) ?? ENGLISH[key];
  if (text === undefined) throw new Error(`texts/en.json has no ${key}`);
  const made = compiled(text, language === PSEUDO_LANGUAGE ? pseudoText : unchanged);
  kept.set(name, made);
  return made;
}

export function messagesOf(language: TextLanguage, keys: Iterable<string>): Messages {
  return Object.fromEntries([...keys].map((key) => [key, messageOf(language, key)]));
}
