import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** Below this many guesses, a list of known passwords with small changes finds it. */
const MIN_GUESSES = 1e8;
/** The scorer's time grows fast with the length; 24 characters take a few milliseconds. */
const JUDGED_LENGTH = 24;

let scorer: ZxcvbnFactory | null = null;

/**
 * Whether the password is a known one, or a known one with a year, a digit, capitals or "@" for
 * "a" added. Judged by its first 24 characters. Offline: the lists come with the package.
 * `personal` are words that this person would use: the address, the product.
 */
export function isBreached(password: string, personal: readonly string[]): boolean {
  scorer ??= new ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    maxLength: JUDGED_LENGTH,
    l33tMaxSubstitutions: 1,
  });
  const judged = password.normalize('NFKC').slice(0, JUDGED_LENGTH);
  return scorer.check(judged, [...personal]).guesses < MIN_GUESSES;
}
