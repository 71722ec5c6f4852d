import { type Algorithm, hash, verify } from '@node-rs/argon2';
import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';
import { isRefusal, type Refusal, refuse } from '#core/answer.ts';
import { type HashCaller, HashGate } from '#people/password-hash-limits.ts';

/** NIST SP 800-63B: require a minimum length, not certain kinds of characters. */
const MIN_LENGTH = 12;
/**
 * Enough for long passphrases. Without a limit, hashing a password of megabytes would block a core.
 */
const MAX_LENGTH = 256;
const MIN_DISTINCT = 5;

/** OWASP's argon2id profile with 19 MiB, two passes, one lane: about 30 ms of one core. */
const PROFILE = {
  // The package's const enum does not work with type stripping; 2 is argon2id.
  algorithm: 2 satisfies Algorithm.Argon2id as Algorithm,
  memoryCost: 19_456,
  timeCost: 2,
  parallelism: 1,
} as const;

/** Passwords that are long enough but among the first that guessers try. */
const OBVIOUS =
  /^(?:(?:pass ?word|qwerty(?:uiop)?|letmein|iloveyou|welcome|admin|tapline|secret)[\d!.\s]*)+$/i;
const STAIRS = '01234567890123456789abcdefghijklmnopqrstuvwxyzqwertyuiopasdfghjklzxcvbnm';

/** Checks the length in code points, and refuses obvious and breached passwords. */
export function checkPassword(password: string, email: string): Refusal | null {
  const length = [...password].length;
  if (length < MIN_LENGTH || length > MAX_LENGTH) {
    return refuse(
      'parameter_invalid',
      `password must have ${MIN_LENGTH} to ${MAX_LENGTH} characters.`,
      'password',
    );
  }
  const lower = password.toLowerCase();
  const name = email.split('@')[0] ?? email;
  const guessable =
    new Set(lower).size < MIN_DISTINCT ||
    OBVIOUS.test(lower) ||
    STAIRS.includes(lower) ||
    lower.includes(email) ||
    (name.length >= 6 && lower.replaceAll(name, '').length < MIN_LENGTH / 2);
  if (!guessable && !isBreached(password, ['tapline', email, name])) return null;
  return refuse(
    'parameter_invalid',
    'password is too easy to guess or too similar to a leaked one. Use four or more ' +
      'unrelated words, or let a password manager generate one.',
    'password',
  );
}

const gate = new HashGate();

/**
 * Returns an argon2id hash in PHC format, after NFKC normalization, so that the same password
 * matches from any keyboard. Returns a refusal if this kind of caller has used up its share of the
 * capacity.
 */
export async function hashPassword(
  password: string,
  caller: HashCaller,
): Promise<string | Refusal> {
  return gate.run(caller, () => hash(password.normalize('NFKC'), PROFILE));
}

let decoy: Promise<string> | null = null;

/**
 * If there is no hash (no such user, or an erased one), checks a decoy, so that the time does not
 * reveal whether the user exists. Returns a refusal if this kind of caller has used up its share of
 * the capacity.
 */
export async function verifyPassword(
  password: string,
  storedHash: string | null,
  caller: HashCaller,
): Promise<boolean | Refusal> {
  decoy ??= hash('a decoy that nobody can sign in with', PROFILE);
  const isKnown = storedHash !== null && storedHash !== '';
  const against = isKnown ? storedHash : await decoy;
  const matches = await gate.run(caller, () => verify(against, password.normalize('NFKC')));
  return isRefusal(matches) ? matches : matches && isKnown;
}

/**
 * Passwords that can be found with fewer guesses are refused. A list of known passwords and their
 * simple variations stays below this number.
 */
const MIN_GUESSES = 1e8;
/**
 * Number of characters that are scored, because the scorer's time grows quickly with the length.
 */
const JUDGED_LENGTH = 24;

let scorer: ZxcvbnFactory | null = null;

/**
 * True for a known password, even with a year, a digit, capitals or "@" for "a" added. Scores the
 * first 24 characters, offline: the lists are part of the package. `personal` has words that are
 * easy to guess for this person, such as the email address and the product's name.
 */
function isBreached(password: string, personal: readonly string[]): boolean {
  scorer ??= new ZxcvbnFactory({
    dictionary,
    graphs: adjacencyGraphs,
    maxLength: JUDGED_LENGTH,
    l33tMaxSubstitutions: 1,
  });
  const judged = password.normalize('NFKC').slice(0, JUDGED_LENGTH);
  return scorer.check(judged, [...personal]).guesses < MIN_GUESSES;
}
