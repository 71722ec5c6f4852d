import { localeOf } from '#core/languages.ts';
import { type CompiledMessage, formatText, type TextValues } from '#core/text-format.ts';
import type english from '../../../texts/en.json';

/** What a text is for: `till.charge.button`. */
export type TextKey = Exclude<keyof typeof english, `@${string}`>;

/** What the page's own file of texts holds, which runs before any code of an app. */
interface Texts {
  readonly language: string;
  readonly messages: Record<string, CompiledMessage>;
  /** The texts of parts that are loaded later; `null` if there are none. */
  readonly more: string | null;
}

declare global {
  var TEXTS: Texts;
}

/** The language of this page's texts. */
export function textLanguage(): string {
  return TEXTS.language;
}

let locale: string | null = null;

/**
 * For `Intl`: what the browser says more precisely of the page's language (`en-GB`). Some browsers
 * name one that Intl does not know.
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
  locale = known[0] ?? localeOf(language);
  return locale;
}

export function messageOf(key: TextKey): CompiledMessage {
  const message = TEXTS.messages[key];
  if (message === undefined) throw new Error(`No text ${key}`);
  return message;
}

/**
 * A text of the catalog, in the page's language. Values that are texts are marked as the same in
 * every language; what draws them shows no mark (see `named`).
 */
export function t(key: TextKey, values: TextValues = {}): string {
  return formatText(messageOf(key), textLocale(), values);
}

let more: Promise<void> | null = null;

/** Brings the texts of the parts that are loaded later. */
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
