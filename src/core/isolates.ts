/** The isolates of Unicode: what is between them has a direction of its own. */
const ISOLATES = /[\u2068\u2069]/g;

/**
 * What is the same in every language, within a text: a name that people gave, a sum, an id. No
 * translator changes it.
 */
export function named(name: string): string {
  return `\u2068${name}\u2069`;
}

/** For a place that holds text and no elements. */
export function withoutMarks(text: string): string {
  return text.replace(ISOLATES, '');
}
