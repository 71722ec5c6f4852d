import { type Refusal, refuse } from '#core/answer.ts';

/**
 * Maximum length of a name. Longer ones would break screens and receipts, and no real name is
 * longer.
 */
export const MAX_NAME_LENGTH = 100;

/**
 * Scripts with look-alike letters. A word that mixes them could pass for another one, and real
 * words do not mix them. Japanese and Korean do mix scripts, but theirs do not look like Latin.
 */
const LOOKALIKE_SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
  /\p{Script=Coptic}/u,
  /\p{Script=Lisu}/u,
];

/**
 * Matches characters that are invisible, change the direction (U+202A to U+202E, U+2066 to U+2069),
 * are unassigned, or break lines. Joiners are checked separately.
 */
const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/u;
const JOINER = /[\u200c\u200d]/u;
/** Matches characters that a joiner may connect: emoji with their modifiers, letters and marks. */
const JOINED = /\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f|\p{L}|\p{M}/u;
const TURNS = /[\u202a-\u202e\u2066-\u2069]/u;
/** Matches four combining marks in a row, which can cover neighboring text. */
const MARK_PILE = /\p{M}{4}/u;

function mixesScripts(word: string): boolean {
  return LOOKALIKE_SCRIPTS.filter((script) => script.test(word)).length > 1;
}

/**
 * True if the name has a joiner without effect. Emoji and many scripts need joiners between two
 * characters; anywhere else, a joiner only makes names differ invisibly.
 */
function hasIdleJoiner(name: string): boolean {
  const characters = [...name];
  const takesJoiner = (character = '') =>
    JOINED.test(character) && !LOOKALIKE_SCRIPTS.some((script) => script.test(character));
  return characters.some(
    (character, i) =>
      JOINER.test(character) && !(takesJoiner(characters[i - 1]) && takesJoiner(characters[i + 1])),
  );
}

function invalid(param: string, why: string): Refusal {
  return refuse('parameter_invalid', `${param} ${why}.`, param);
}

/**
 * Returns a name in its normal form (NFC, single spaces), or a refusal if it is too long, has
 * hidden characters, or mixes look-alike letters of different scripts in one word.
 */
export function readName(text: string, param: string): string | Refusal {
  const name = text
    .normalize('NFC')
    .replaceAll(/\p{Zs}+/gu, ' ')
    .trim();
  if (name === '') return invalid(param, 'must not be empty');
  if ([...name].length > MAX_NAME_LENGTH) {
    return invalid(param, `must have at most ${MAX_NAME_LENGTH} characters`);
  }
  if (HIDDEN.test(name) || hasIdleJoiner(name)) {
    return invalid(param, 'must not contain invisible characters');
  }
  if (MARK_PILE.test(name)) return invalid(param, 'has too many marks on one letter');
  if (name.split(/[^\p{L}\p{M}]+/u).some(mixesScripts)) {
    return invalid(param, 'mixes letters of different alphabets that look alike in one word');
  }
  return name;
}

/** Maximum length of a scanned text. The longest code of ours, an offline request, has 500. */
const MAX_SCANNED_LENGTH = 1_000;

/**
 * Returns a scanned text as a screen may show it: without characters that are invisible, change the
 * direction or break lines, and not longer than any code of ours.
 */
export function scannedText(text: string): string {
  const visible = [...text].filter((character) => !HIDDEN.test(character));
  return visible.slice(0, MAX_SCANNED_LENGTH).join('');
}

/** Refuses a label with characters that change the direction of neighboring text. */
export function checkDirections(text: string, param: string): Refusal | null {
  if (!TURNS.test(text)) return null;
  return invalid(param, 'must not contain characters that change the direction of writing');
}

/** Maximum length of an email address (RFC 5321). */
const MAX_EMAIL_LENGTH = 254;
const MAILBOX = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const labels = text.slice(at + 1).split('.');
  const isDomain = labels.length > 1 && labels.every((label) => LABEL.test(label));
  return text.length <= MAX_EMAIL_LENGTH && MAILBOX.test(text.slice(0, at)) && isDomain;
}

/**
 * Returns the email address in lowercase. Only ASCII is accepted (other domains as punycode), so
 * that no two addresses look alike.
 */
export function readEmail(text: string, param = 'email'): string | Refusal {
  const email = text.trim().toLowerCase();
  if (isEmail(email)) return email;
  return refuse(
    'parameter_invalid',
    `${param} must be an email address such as name@example.com, in letters without accents.`,
    param,
  );
}
