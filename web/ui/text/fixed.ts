import { named, withoutMarks } from '#core/isolates.ts';

/** A part of a text: words, or what is the same in every language, such as a sum or a name. */
export interface TextPart {
  readonly is: 'words' | 'fixed';
  readonly text: string;
}

/**
 * What is the same in every language: a name between isolates (see `named`), an email
 * address, a version or an IP address, a sum with its unit, an address or its ends, an id or a
 * program's word (`pi_…`, `card_blocked`), a pairing code, the last digits of an address.
 */
const KINDS = [
  /\u2068[^\u2069]*\u2069/,
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/,
  /\d+(?:\.\d+){2,}/,
  /(?:< |−)?\p{Nd}+(?:[.,'’\u00a0\u202f٬]\p{Nd}+)*[.,٫]\p{Nd}{2,6}(?: [A-Z]{3,4}\b)?/u,
  /0x[\da-fA-F]+(?:…[\da-fA-F]+)?/,
  /\b[A-Za-z]+(?:_[\dA-Za-z.]+)+/,
  /\b[\dA-Z]{4}-[\dA-Z]{4}\b/,
  // No lookbehind: Safari before 16.4 has none. The words in front are a group.
  /(ending in )[\da-fA-F]{4}\b/,
];
const FIXED = new RegExp(KINDS.map(({ source }) => source).join('|'), 'gu');

/** In turn what a translator may change and what it may not. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const { 0: match, 1: before = '', index } of text.matchAll(FIXED)) {
    const start = index + before.length;
    if (start > end) parts.push({ is: 'words', text: text.slice(end, start) });
    end = index + match.length;
    parts.push({ is: 'fixed', text: withoutMarks(text.slice(start, end)) });
  }
  if (end < text.length) parts.push({ is: 'words', text: text.slice(end) });
  return parts;
}

/** What people or programs gave, which is the same in every language; nothing stays nothing. */
export function given(text: string | null | undefined): string {
  return text == null || text === '' ? '' : named(text);
}
