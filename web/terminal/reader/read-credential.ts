import type { Credential } from '../../data/device-api.ts';
import type { Chip } from './chip-commands.ts';

const NFC_ID = /^nfc_[\x21-\x7e]{1,196}$/;
/** A pass id and a code that changes every 30 seconds. */
const ROTATING = /^pass_[0-9A-Za-z]{1,64}\.\d{8}$/;
/** A code of the wallet app: printable, without spaces, and too long to be anything else. */
const CODE = /^[\x21-\x7e]{16,512}$/;

export type Read =
  | { readonly is: 'pass'; readonly credential: Credential }
  /** A card with a chip that signs payments itself. */
  | { readonly is: 'chip'; readonly chip: Chip }
  /** A wallet's answer to an offline request of this till. */
  | { readonly is: 'answer'; readonly text: string }
  /** URL of a counter tag, of this till or another one. */
  | { readonly is: 'tag'; readonly address: string }
  | { readonly is: 'no_pass'; readonly why?: NoPass }
  /** A card responded but could not be read: a bank card, or two cards in the field. */
  | { readonly is: 'unreadable' }
  /** The chip was removed before it had signed. */
  | { readonly is: 'left_early' }
  /** The chip did not sign, or it cannot make this payment now. */
  | { readonly is: 'not_signed'; readonly message: string | null };

/** The reason why an item cannot pay. Absent if the reader does not know. */
export type NoPass =
  | 'phone_without_pass'
  | 'locked_phone'
  | 'foreign_card'
  | 'two_cards'
  /** A keyboard-wedge reader uses another keyboard layout than the device. */
  | 'other_layout';

/** The items that cannot pay. Nothing is sent when one is read. */
export type Unread = Exclude<Read, { readonly is: 'pass' | 'chip' | 'answer' }>;

const NO_PASS: Read = { is: 'no_pass' };
/**
 * Written by the dashboard (`terminal` → `Tag`); not a secret. A mirrored chip message may follow
 * it.
 */
const TAG = /\/t\/[0-9A-Za-z]{22,23}$/;

/** The format of `data/offline-request.ts`, which checks the rest. */
const ANSWER = /^TLANS\d[A-Z2-7]+$/i;

/** Classifies a text that was read from any source. */
export function readText(text: string): Read {
  const address = text.trim();
  if (URL.canParse(address) && TAG.test(new URL(address).pathname)) return { is: 'tag', address };
  if (ANSWER.test(address)) return { is: 'answer', text: address };
  const credential = credentialOf(address);
  return credential === null ? NO_PASS : { is: 'pass', credential };
}

/** Returns the text as a credential for the API, or `null` if it is not a pass. */
export function credentialOf(text: string): Credential | null {
  const value = text.trim();
  if (NFC_ID.test(value)) return { type: 'nfc_id', value };
  if (URL.canParse(value)) {
    const isCard = /\/card\/[^/]+$/.test(new URL(value).pathname);
    return isCard ? { type: 'nfc_sun', value } : null;
  }
  if (ROTATING.test(value)) return { type: 'rotating_code', value };
  return CODE.test(value) ? { type: 'qr', value } : null;
}
