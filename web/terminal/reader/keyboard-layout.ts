import { sha256 } from '@noble/hashes/sha2.js';
import type { Typed } from './american-key.ts';
import { type Read, readText } from './read-credential.ts';

/**
 * Keyboard-wedge readers send the key codes of the layout they are set to, usually American. A
 * computer with another layout, or with Caps Lock on, turns them into other letters. So the input
 * is decoded twice: by its letters, and by the position of the keys on an American keyboard.
 */

const SECRET = /^(?:nfc|tlpc)_[0-9A-Za-z]{38,39}$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const CHECKSUM_LENGTH = 6;

/** Computes the checksum as the service does in `core/bearer-secrets.ts`. */
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
/** A wallet's answer to an offline request. Its own checksum reveals a wrong layout. */
const ANSWER = /^TLANS\d[A-Z2-7]+$/i;
const CARD = /\/card\/card_[0-9A-Za-z]{22}$/;
const CARD_QUERY = /^\?p=[0-9a-f]{32}&c=[0-9a-f]{16}$/i;

/** True if the text is complete and well formed. A wrong layout would break its form. */
function isWhole(text: string): boolean {
  if (SECRET.test(text))
    return checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
  if (ROTATING.test(text) || ANSWER.test(text)) return true;
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { pathname, search } = new URL(text);
  return !pathname.includes('/card') || (CARD.test(pathname) && CARD_QUERY.test(search));
}

/**
 * Matches texts that begin like a pass or a URL. These letters have the same position on all common
 * keyboards, except `a` and `q`.
 */
const BEGINS_LIKE_ONE = /^(?:nfc|tlpc|p[aq]ss.|https?)[^a-z]/i;

/** Decodes typed text. @returns the text in its original layout, with its classification. */
export function readTyped(typed: Typed): { readonly text: string; readonly read: Read } {
  const both = [typed.letters, typed.places].map((text) => text.trim());
  const whole = both.find(isWhole);
  if (whole !== undefined) return { text: whole, read: readText(whole) };
  const isPass = both.some((text) => BEGINS_LIKE_ONE.test(text));
  const read: Read = isPass ? { is: 'no_pass', why: 'other_layout' } : { is: 'no_pass' };
  return { text: typed.letters, read };
}
