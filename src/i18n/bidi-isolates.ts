/** Matches Unicode isolates, between which text has its own direction. */
const ISOLATES = /[\u2068\u2069]/g;

/**
 * Marks a text that is the same in every language, such as a name, an amount or an id, which
 * translators must not change.
 */
export function named(name: string): string {
  return `\u2068${name}\u2069`;
}

/** Removes the isolates, for places that show plain text, such as attributes and titles. */
export function withoutIsolates(text: string): string {
  return text.replace(ISOLATES, '');
}
