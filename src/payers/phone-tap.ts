import { cellOfSecret, hashSecret } from '#core/secrets.ts';
import { sha256 } from '#core/sha256.ts';

/** The kinds of taps, by phone wallet and protocol. */
export const PHONE_KINDS = ['smart_tap', 'apple_vas'] as const;
export type PhoneKind = (typeof PHONE_KINDS)[number];

/** The parsed message that a reader got from a phone. */
export interface PhoneTap {
  readonly kind: PhoneKind;
  /** The hash that finds the pass; `null` if the checksum of the value is invalid. */
  readonly valueHash: Buffer | null;
  /** The hash of the whole message. Repeating a tap gives the same hash. */
  readonly tapHash: Buffer;
  /** The cell that created the pass; `null` whenever `valueHash` is `null`. */
  readonly cell: number | null;
  /** The whole message, as the reader sent it. */
  readonly text: string;
  /** The phone's time; `null` if the protocol uses a nonce instead. */
  readonly at: Date | null;
}

const FORMAT = 1;
/** Length of the random value that the phone draws for each tap. */
const NONCE_BYTES = 32;
/** Unix seconds. */
const TIME_BYTES = 4;
/** Longer than this service's own values, and short enough to hash quickly. */
const MAX_VALUE_BYTES = 256;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

/** The kind of secret that each phone wallet holds. */
export const SECRET_KINDS = { smart_tap: 'smartTap', apple_vas: 'appleVas' } as const;

const HEAD_BYTES = { smart_tap: NONCE_BYTES, apple_vas: TIME_BYTES } as const;

/**
 * Parses `format ‖ nonce or time ‖ value`, in base64url without padding; `null` for any other
 * format.
 */
export function parsePhoneTap(kind: PhoneKind, text: string): PhoneTap | null {
  const bytes = BASE64URL.test(text) ? Buffer.from(text, 'base64url') : null;
  // Accepts only the canonical encoding: two encodings of the same bytes would count as two
  // credentials.
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

/** Encodes a phone's response in the same form as `tapline-reader`. */
export function writePhoneTap(value: string, head: Buffer): string {
  return Buffer.concat([Buffer.from([FORMAT]), head, Buffer.from(value)]).toString('base64url');
}

/** Encodes the time of a tap as an Apple phone does. */
export function timeHead(at: Date): Buffer {
  const head = Buffer.alloc(TIME_BYTES);
  head.writeUInt32BE(Math.floor(at.getTime() / 1000));
  return head;
}

export const SMART_TAP_NONCE_BYTES = NONCE_BYTES;
