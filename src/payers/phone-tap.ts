import { cellOfSecret, hashSecret } from '#core/bearer-secrets.ts';
import { sha256 } from '#core/sha256.ts';

/** The kinds of taps. Each belongs to one phone wallet and its protocol. */
export const PHONE_KINDS = ['smart_tap', 'apple_vas'] as const;
export type PhoneKind = (typeof PHONE_KINDS)[number];

/** A parsed message from a phone, as its reader sent it. */
export interface PhoneTap {
  readonly kind: PhoneKind;
  /** The hash by which the pass is found; `null` if the value's checksum is invalid. */
  readonly valueHash: Buffer | null;
  /** The hash of the whole message. A repeated message has the same hash. */
  readonly tapHash: Buffer;
  /** The cell in which the pass was created; `null` if `valueHash` is. */
  readonly cell: number | null;
  /** The unparsed message, as the reader sent it. */
  readonly text: string;
  /** The phone's time; `null` if the protocol has a nonce instead. */
  readonly at: Date | null;
}

const FORMAT = 1;
/** Length of the random value that the phone draws for each tap. */
const NONCE_BYTES = 32;
/** Unix seconds. */
const TIME_BYTES = 4;
/** Maximum length of a value: longer than any of this service, but short enough to hash quickly. */
const MAX_VALUE_BYTES = 256;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** The kind of secret that each protocol transmits. */
export const SECRET_KINDS = { smart_tap: 'smartTap', apple_vas: 'appleVas' } as const;

const HEAD_BYTES = { smart_tap: NONCE_BYTES, apple_vas: TIME_BYTES } as const;

/**
 * Parses `format ‖ nonce or time ‖ value`, encoded in base64url without padding. Returns `null` for
 * anything else.
 */
export function parsePhoneTap(kind: PhoneKind, text: string): PhoneTap | null {
  const bytes = BASE64URL.test(text) ? Buffer.from(text, 'base64url') : null;
  // Accepts only the canonical encoding. Otherwise, two encodings of one tap would count as two
  // taps.
  if (bytes === null || bytes.toString('base64url') !== text || bytes[0] !== FORMAT) return null;
  const start = 1 + HEAD_BYTES[kind];
  const value = bytes.subarray(start);
  if (value.length === 0 || value.length > MAX_VALUE_BYTES) return null;
  const at = kind === 'apple_vas' ? new Date(bytes.readUInt32BE(1) * 1000) : null;
  const tapHash = sha256(Buffer.concat([Buffer.from(`${kind} `), bytes]));
  const said = value.toString('latin1');
  const cell = cellOfSecret(SECRET_KINDS[kind], said);
  const valueHash = cell === null ? null : hashSecret(said);
  return { kind, valueHash, tapHash, cell, text, at };
}

/** Encodes a phone's response in the format that `tapline-reader` sends. */
export function writePhoneTap(value: string, head: Buffer): string {
  return Buffer.concat([Buffer.from([FORMAT]), head, Buffer.from(value)]).toString('base64url');
}

/** Encodes the time of a tap like an Apple phone. */
export function timeHead(at: Date): Buffer {
  const head = Buffer.alloc(TIME_BYTES);
  head.writeUInt32BE(Math.floor(at.getTime() / 1000));
  return head;
}

export const SMART_TAP_NONCE_BYTES = NONCE_BYTES;
