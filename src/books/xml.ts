import { escapeHtml } from '#core/escape-html.ts';

/** Matches characters that XML does not allow. */
const NOT_IN_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Cuts a text to a number of characters, and escapes it. */
export function xmlText(text: string, most: number): string {
  return escapeHtml([...text.replaceAll(NOT_IN_XML, ' ')].slice(0, most).join(''));
}

export function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
