import type { Credential } from '../../data/device.ts';
import type { Chip } from './nfc.ts';

const NFC_ID = /^nfc_[\x21-\x7e]{1,196}$/;
/** The id of a pass and a code that changes every half minute. */
const ROTATING = /^pass_[0-9A-Za-z]{1,64}\.\d{8}$/;
/** A code of the wallet app: printable, without spaces, and too long to be anything else. */
const CODE = /^[\x21-\x7e]{16,512}$/;

/** What somebody held against the till, or into its camera. */
export type Read =
  | { readonly is: 'pass'; readonly credential: Credential }
  /** A card whose chip signs payments by itself. */
  | { readonly is: 'chip'; readonly chip: Chip }
  /** The address of a counter's tag: this till's own, or that of another one. */
  | { readonly is: 'tag'; readonly address: string }
  | { readonly is: 'no_pass'; readonly why?: NoPass }
  /** Something answered, and not in a way that can be read: a bank card, two cards at once. */
  | { readonly is: 'unreadable' }
  /** A chip left before it had signed. */
  | { readonly is: 'left_early' }
  /** A chip did not sign, or the payment cannot be paid by it now. */
  | { readonly is: 'not_signed'; readonly message: string | null };

/** What a reader can tell of something that pays nothing; left out: it cannot tell. */
export type NoPass =
  | 'phone_without_pass'
  | 'locked_phone'
  | 'foreign_card'
  | 'two_cards'
  /** A reader that types is set to another keyboard layout than the device. */
  | 'other_layout';

/** Everything that pays nothing: nothing is sent for it. */
export type Unread = Exclude<Read, { readonly is: 'pass' | 'chip' }>;

const NO_PASS: Read = { is: 'no_pass' };
/** Written by the dashboard (`terminal` → `Tag`), and no secret. Some cells have a mark first. */
const TAG = /\/t\/[0-9A-Za-z]{22,23}$/;

/** What a text is that was read, wherever it comes from. */
export function readText(text: string): Read {
  const address = text.trim();
  if (URL.canParse(address) && TAG.test(new URL(address).pathname)) return { is: 'tag', address };
  const credential = credentialOf(address);
  return credential === null ? NO_PASS : { is: 'pass', credential };
}

/** What was read, as the service takes it; null for anything that is not a pass. */
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
