/** Unicode isolates: the text between them has its own direction. */
const ISOLATES = /[\u2068\u2069]/g;

/**
 * Marks text that is the same in every language: a name, an amount, an id. Translators leave it
 * unchanged.
 */
export function named(name: string): string {
  return `\u2068${name}\u2069`;
}

/** Removes the isolates, for plain-text places such as attributes and titles. */
export function withoutIsolates(text: string): string {
  return text.replace(ISOLATES, '');
}
