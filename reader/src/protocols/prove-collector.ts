import { type KeyObject, sign } from 'node:crypto';
import { ProtocolError } from './apdu.ts';

/** Proves to a phone with Google Wallet that the reader belongs to the collector. */

/** The data to sign for one tap. */
export interface TapToProve {
  readonly readerNonce: Uint8Array;
  readonly phoneNonce: Uint8Array;
  /** The reader's key for this tap: 33 bytes. */
  readonly readerKey: Uint8Array;
}

export interface CollectorProof {
  /** The number that Google assigned, up to 2^32 - 1. */
  readonly collectorId: number;
  readonly keyVersion: number;
  /** DER signature by the key whose public half is registered with Google. */
  readonly signature: Uint8Array;
}

/** Signs a tap. `null` if Smart Tap is off for this terminal. */
export type ProveCollector = (tap: TapToProve) => Promise<CollectorProof | null>;

/** Creates a proof function for programs that hold the key themselves. */
export function collectorWithKey(collector: {
  readonly id: number;
  readonly keyVersion: number;
  readonly privateKey: KeyObject;
}): ProveCollector {
  const { id: collectorId, keyVersion, privateKey } = collector;
  return async ({ readerNonce, phoneNonce, readerKey }) => {
    const signed = Buffer.concat([readerNonce, phoneNonce, number32(collectorId), readerKey]);
    const signature = Uint8Array.from(sign('sha256', signed, privateKey));
    return { collectorId, keyVersion, signature };
  };
}

/** Converts a proof to the device API's format. */
export function proofFrom({
  readerNonce,
  phoneNonce,
  readerKey,
}: TapToProve): Readonly<Record<'reader_nonce' | 'phone_nonce' | 'reader_key', string>> {
  return {
    reader_nonce: hex(readerNonce),
    phone_nonce: hex(phoneNonce),
    reader_key: hex(readerKey),
  };
}

/** Parses the device API's response. @throws ProtocolError if it is invalid. */
export function proofOf(answer: unknown): CollectorProof {
  const { collector_id, key_version, signature } = Object(answer) as Record<string, unknown>;
  const isProof =
    isNumber32(collector_id) &&
    isNumber32(key_version) &&
    typeof signature === 'string' &&
    /^([0-9a-f]{2}){8,72}$/.test(signature);
  if (!isProof) throw new ProtocolError('the network returned no signature');
  const bytes = Uint8Array.from(Buffer.from(signature, 'hex'));
  return { collectorId: collector_id, keyVersion: key_version, signature: bytes };
}

function isNumber32(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
}

export function number32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
