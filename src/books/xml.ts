/** Matches characters that XML does not allow. */
const NOT_IN_XML = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Quotes stay: OFX defines no other entities, and libofx drops those that it does not know. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Cuts a text to a number of characters, and escapes it for an element's content. */
export function xmlText(text: string, most: number): string {
  const cut = [...text.replaceAll(NOT_IN_XML, ' ')].slice(0, most).join('');
  return cut.replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? '');
}

export function element(name: string, content: string): string {
  return `<${name}>${content}</${name}>`;
}
