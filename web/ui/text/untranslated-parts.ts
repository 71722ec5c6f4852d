import { named, withoutIsolates } from '#i18n/bidi-isolates.ts';

/**
 * Part of a text: either translatable words, or something that is the same in every language, such
 * as an amount or a name.
 */
export interface TextPart {
  readonly is: 'words' | 'fixed';
  readonly text: string;
}

/**
 * Matches parts that are the same in every language: a name between isolates (see `named`), an
 * email address, a version or IP address, an amount with its unit, an address or its ends, an id or
 * code (`pi_…`, `card_blocked`), a pairing code, the last digits of an address.
 */
const KINDS = [
  /\u2068[^\u2069]*\u2069/,
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/,
  /\d+(?:\.\d+){2,}/,
  /(?:< |−)?\p{Nd}+(?:[.,'’\u00a0\u202f٬]\p{Nd}+)*[.,٫]\p{Nd}{2,6}(?:[ \u00a0][A-Z]{3,4}\b)?/u,
  /0x[\da-fA-F]+(?:…[\da-fA-F]+)?/,
  /\b[A-Za-z]+(?:_[\dA-Za-z.]+)+/,
  /\b[\dA-Z]{4}-[\dA-Z]{4}\b/,
  // Uses a group instead of a lookbehind, which Safari before 16.4 does not support.
  /(ending in )[\da-fA-F]{4}\b/,
];
const FIXED = new RegExp(KINDS.map(({ source }) => source).join('|'), 'gu');

/** Splits a text into alternating translatable and untranslatable parts. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: match, 1: before = '', index } of text.matchAll(FIXED)) {
    const start = index + before.length;
    if (start > end) parts.push({ is: 'words', text: text.slice(end, start) });
    end = index + match.length;
    parts.push({ is: 'fixed', text: withoutIsolates(text.slice(start, end)) });
  }
  if (end < text.length) parts.push({ is: 'words', text: text.slice(end) });
  return parts;
}

/** Marks text from users or programs as the same in every language. Empty text stays empty. */
export function given(text: string | null | undefined): string {
  return text == null || text === '' ? '' : named(text);
}
