import { localeOf } from '#i18n/languages.ts';
import { type CompiledMessage, formatText, type TextValues } from '#i18n/text-format.ts';
import type english from '../../../texts/en.json';

/** A key of the text catalog, for example `till.charge.button`. */
export type TextKey = Exclude<keyof typeof english, `@${string}`>;

/** The content of the page's text file, which runs before the app's code. */
interface Texts {
  readonly language: string;
  readonly messages: Record<string, CompiledMessage>;
  /** URL of the texts for parts that load later, or `null`. */
  readonly more: string | null;
}

declare global {
  var TEXTS: Texts;
}

export function textLanguage(): string {
  return TEXTS.language;
}

let locale: string | null = null;

/**
 * Returns the locale for `Intl`: the browser's more specific form of the page's language (`en-GB`),
 * if Intl knows it.
 */
export function textLocale(): string {
  if (locale !== null) return locale;
  const { language } = TEXTS;
  const known = navigator.languages.filter((one) => {
    try {
      return new Intl.Locale(one).language === language;
    } catch {
      return false;
    }
  });
  locale = localeOf(known[0] ?? language);
  return locale;
}

/** Texts of refusals and declines load after the page. */
export function hasText(key: TextKey): boolean {
  return key in TEXTS.messages;
}

export function messageOf(key: TextKey): CompiledMessage {
  const message = TEXTS.messages[key];
  if (message === undefined) throw new Error(`No text ${key}`);
  return message;
}

/**
 * Returns a catalog text in the page's language. Values that are strings are isolated as the same
 * in every language; rendering removes the isolates (see `named`).
 */
export function t(key: TextKey, values: TextValues = {}): string {
  return formatText(messageOf(key), textLocale(), values);
}

let more: Promise<void> | null = null;

export function loadMoreTexts(): Promise<void> {
  const address = TEXTS.more;
  if (address === null) return Promise.resolve();
  more ??= import(/* @vite-ignore */ new URL(address, document.baseURI).href).then(
    (file: { readonly default: Texts['messages'] }) => {
      Object.assign(TEXTS.messages, file.default);
    },
    (error: unknown) => {
      more = null;
      throw error;
    },
  );
  return more;
}

/** Loads code together with its texts, which keeps them out of the first load (texts-plugin.ts). */
export async function withTexts<T>(load: () => Promise<T>): Promise<T> {
  const [loaded] = await Promise.all([load(), loadMoreTexts()]);
  return loaded;
}
