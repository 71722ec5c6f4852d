import { sha256 } from '@noble/hashes/sha2.js';
import { type Read, readText } from './credential.ts';

/**
 * Readers that type send the keys of the layout that they are set to, mostly the American one. A
 * computer with another layout makes other letters of them, and Caps Lock does, too. So what was
 * typed is read twice: by the letters, and by the places of the keys on an American keyboard.
 */

/** By `code`: without Shift, and with it. */
const KEYS: Readonly<Record<string, string>> = {
  Backquote: '`~',
  Minus: '-_',
  Equal: '=+',
  BracketLeft: '[{',
  BracketRight: ']}',
  Backslash: '\\|',
  IntlBackslash: '\\|',
  Semicolon: ';:',
  Quote: '\'"',
  Comma: ',<',
  Period: '.>',
  Slash: '/?',
  Space: '  ',
  NumpadDecimal: '..',
  NumpadDivide: '//',
  NumpadSubtract: '--',
};
const SHIFTED_DIGITS = ')!@#$%^&*(';

/** The letter that an American keyboard has in the place of this key; '' where it has none. */
export function americanKey({ code, shiftKey }: Pick<KeyboardEvent, 'code' | 'shiftKey'>): string {
  const [, letter] = /^Key([A-Z])$/.exec(code) ?? [];
  if (letter !== undefined) return shiftKey ? letter : letter.toLowerCase();
  const [, place, digit = ''] = /^(Digit|Numpad)(\d)$/.exec(code) ?? [];
  if (place !== undefined) {
    return place === 'Digit' && shiftKey ? SHIFTED_DIGITS.charAt(Number(digit)) : digit;
  }
  return KEYS[code]?.charAt(shiftKey ? 1 : 0) ?? '';
}

const SECRET = /^(?:nfc|tlpc)_[0-9A-Za-z]{38,39}$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

/** As the service computes it: `core/secrets.ts`. */
function checksum(text: string): string {
  const digest = sha256(new TextEncoder().encode(`tapline:${text}`));
  let rest = new DataView(digest.buffer, digest.byteOffset).getBigUint64(0);
  let digits = '';
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = ALPHABET.charAt(Number(rest % 62n)) + digits;
    rest /= 62n;
  }
  return digits;
}

const ROTATING = /^pass_[0-9A-Za-z]{22}\.\d{8}$/;
const CARD = /\/card\/card_[0-9A-Za-z]{22}$/;
const CARD_QUERY = /^\?p=[0-9a-f]{32}&c=[0-9a-f]{16}$/i;

/** Whether every letter of it can be right: another layout would not leave it in this form. */
function isWhole(text: string): boolean {
  if (SECRET.test(text))
    return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
  if (ROTATING.test(text)) return true;
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { pathname, search } = new URL(text);
  return !pathname.includes('/card') || (CARD.test(pathname) && CARD_QUERY.test(search));
}

/** These letters are in the same places on all keyboards that shops have, but `a` and `q`. */
const BEGINS_LIKE_ONE = /^(?:nfc|tlpc|p[aq]ss.|https?)[^a-z]/i;

/** What was typed, by the letters and by the places of the keys. */
export interface Typed {
  readonly letters: string;
  readonly places: string;
}

/** @returns the text in the layout that it was written in, and what it is. */
export function readTyped(typed: Typed): { readonly text: string; readonly read: Read } {
  const both = [typed.letters, typed.places].map((text) => text.trim());
  const whole = both.find(isWhole);
  if (whole !== undefined) return { text: whole, read: readText(whole) };
  const isPass = both.some((text) => BEGINS_LIKE_ONE.test(text));
  const read: Read = isPass ? { is: 'no_pass', why: 'other_layout' } : { is: 'no_pass' };
  return { text: typed.letters, read };
}
