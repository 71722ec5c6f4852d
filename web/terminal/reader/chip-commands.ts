/** Commands for chips of the HaLo family and their answers, independent of the transport. */

/** A card of the HaLo family. Signing writes a digest to it and reads the signature from it. */
export interface Chip {
  /** Uncompressed, in 130 hex digits. */
  readonly publicKey: string;
  /**
   * @param proof Proof of the chip's PIN, if it needs one.
   * @returns the signature in DER, or the reason why there is none.
   * @throws the driver's error if the card is removed.
   */
  sign(digest: Uint8Array, signal: AbortSignal, proof?: Uint8Array): Promise<Uint8Array>;
  /**
   * Set if the chip is read through the phone's dialog: the user must click and hold the card
   * again.
   */
  readonly afterClick?: true;
}

/** Number of the chip's key that the manufacturer reserves for payments. */
const KEY = 1;
const CODE = { sign: 0x01, listKeys: 0x02, signWithPin: 0xa1 } as const;
const FAILED = 0xe1;
const WRONG_PIN = [0x11, 0x17];
const LOCKED = [0x18, 0x21, 0x22];

export const LIST_KEYS = Uint8Array.from([CODE.listKeys]);

/** @param proof Proof of the PIN, valid for this digest only. */
export function signCommand(digest: Uint8Array, proof: Uint8Array | null): Uint8Array<ArrayBuffer> {
  if (proof === null) return Uint8Array.from([CODE.sign, KEY, ...digest]);
  return Uint8Array.from([CODE.signWithPin, KEY, ...digest, ...proof]);
}

/**
 * Returns the reason why a chip did not sign: it needs its PIN, or it is locked after too many
 * wrong ones. `null` for any other response.
 */
export function refusalIn(answer: Uint8Array): 'wants_pin' | 'locked' | null {
  const [failed, code = 0] = answer;
  if (failed !== FAILED || answer.length !== 2) return null;
  if (WRONG_PIN.includes(code)) return 'wants_pin';
  return LOCKED.includes(code) ? 'locked' : null;
}

/**
 * Proves knowledge of a chip's PIN. The proof is valid for one digest; the PIN itself, and anything
 * that could replace it, stays on this device.
 */
export async function proofOf(pin: string, digest: Uint8Array): Promise<Uint8Array> {
  const text = new TextEncoder();
  const key = await crypto.subtle.importKey('raw', text.encode(pin), 'PBKDF2', false, [
    'deriveBits',
  ]);
  const salt = text.encode('HaLoChipSalt');
  const how = { name: 'PBKDF2', hash: 'SHA-512', salt, iterations: 5_000 };
  const derived = new Uint8Array(await crypto.subtle.deriveBits(how, key, 128));
  const head = text.encode('Password authentication:\n');
  const bytes = Uint8Array.from([0x19, ...head, KEY, ...digest, ...derived]);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}
