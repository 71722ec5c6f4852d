import { present } from '#core/assert.ts';
import { escapeHtml } from '#core/escape-html.ts';
import {
  chooseLanguage,
  directionOf,
  FALLBACK_LANGUAGE,
  languageTag,
  type TextLanguage,
} from '#i18n/languages.ts';
import { type TextKey, type Writer, writerFor } from '#i18n/text.ts';
import type { Readers } from '#web/app-paths.ts';
import type { WebFile } from '#web/read-built-files.ts';

/** Files with texts, by app and language: the first file loads with the page, the second later. */
export type TextFiles = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export function readTextFiles(files: ReadonlyMap<string, WebFile>): TextFiles {
  const manifest = present(files.get('texts.json'), 'the list of texts');
  return JSON.parse(manifest.plain.toString()) as TextFiles;
}

/** Matches the cookie with a user's chosen language (web/ui/language-choice.tsx). */
const COOKIE = /(?:^|;\s*)tapline_language=([a-z]{2,3})(?:;|$)/;

export interface Asking {
  readonly query: unknown;
  readonly headers: {
    readonly 'accept-language'?: string | undefined;
    readonly cookie?: string | undefined;
  };
}

function languageInAddress({ query }: Asking): string | undefined {
  const { lang } = (query ?? {}) as { readonly lang?: unknown };
  return typeof lang === 'string' && lang !== '' ? lang : undefined;
}

/**
 * Returns a response's language: `?lang=`, else the browser's, else the account's, else English. If
 * users can switch the app's language, their choice is in a cookie.
 */
export function languageFor(
  asking: Asking,
  {
    readers,
    offered,
    account,
  }: {
    readonly readers: Readers;
    readonly offered: readonly TextLanguage[];
    readonly account: string | null;
  },
): TextLanguage {
  if (readers === 'english') return FALLBACK_LANGUAGE;
  const { 'accept-language': accept, cookie = '' } = asking.headers;
  const kept = readers === 'owners' ? COOKIE.exec(cookie)?.[1] : undefined;
  const chosen = [languageInAddress(asking), kept];
  return chooseLanguage({ chosen, accept, account }, offered);
}

/**
 * Matches a placeholder in a built page: the key of a text, and the elements for the text's tags.
 */
const PLACE = /\{\{([\w.]+)((?:\s*<(\w+)[^>]*>[^<]*<\/\3>)*)\}\}/g;
const ELEMENT = /(<(\w+)[^>]*>)([^<]*)<\/\2>/g;

/** Placeholder inside an element for the words that come from the text. */
const HOLE = '…';

/**
 * Replaces a placeholder by its text. A link's words come from the text; an amount or a command
 * keeps its own content.
 */
function written(writer: Writer, key: string, elements: string): string {
  const matches = [...elements.matchAll(ELEMENT)].map(([, open = '', tag = '', own = '']) => {
    const draw = (inside: string) => `${open}${own === HOLE ? inside : own}</${tag}>`;
    return [tag, draw] as const;
  });
  return writer.html(key as TextKey, {}, Object.fromEntries(matches));
}

/**
 * Returns the built page in one language, with a link to the file that contains the texts for its
 * code.
 */
export function pageInLanguage(
  html: string,
  language: TextLanguage,
  { textFile, offered }: { readonly textFile: string; readonly offered: readonly TextLanguage[] },
): string {
  const writer = writerFor(language);
  const words = html.replaceAll(PLACE, (_place, key, elements) => written(writer, key, elements));
  const tag = `<html lang="${languageTag(language)}" dir="${directionOf(language)}">`;
  // Modules run in page order, so the texts are available before the app's code runs.
  const head =
    `<meta name="languages" content="${escapeHtml(offered.join(' '))}">\n` +
    `<script type="module" src="./${textFile}"></script>`;
  return words.replace('<html lang="en">', tag).replace('<title>', () => `${head}\n<title>`);
}
