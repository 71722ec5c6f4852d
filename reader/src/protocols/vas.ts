import { createDecipheriv, createHash } from 'node:crypto';
import { ProtocolError, SUCCESS, send, type Transceive } from './apdu.ts';
import type { EphemeralKey } from './p256.ts';
import { decodeTlv, encodeTlv, findTag } from './tlv.ts';

/**
 * Apple VAS: the reader names a pass type, and the phone returns that pass's message, encrypted to
 * the key in the pass. The protocol has no nonce, so only the phone's time distinguishes old
 * responses from new ones.
 */

/** A pass type of the network and the key pair whose public half its passes contain. */
export interface PassType {
  /** For example `pass.com.example.wallet`. */
  readonly identifier: string;
  readonly key: EphemeralKey;
}

export type Vas =
  | { readonly status: 'read'; readonly message: Uint8Array; readonly at: Date }
  | { readonly status: 'no_pass' }
  /** The phone must be unlocked first, so it will be tapped again. */
  | { readonly status: 'tap_again' };

const PROTOCOL_VERSION = Uint8Array.from([0x01, 0x00]);
/**
 * Tells the phone that this reader supports VAS and asks for the pass only, not for a payment card.
 */
const PASS_ONLY = Uint8Array.from([0x00, 0x80, 0x00, 0x02]);
const FILTER = Uint8Array.from([0x01, 0x00, 0x00, 0x00, 0x00]);
const NO_PASS = 0x6a83;
const NOT_YET = 0x6287;
const ACTIVATE = 0x6984;

const KEY_ID_BYTES = 4;
const X_BYTES = 32;
const TAG_BYTES = 16;
const TIME_BYTES = 4;
/** Apple counts seconds from this date. */
const APPLE_EPOCH_MS = Date.UTC(2001, 0, 1);

export async function readVas(transceive: Transceive, passType: PassType): Promise<Vas> {
  const answer = await send(transceive, {
    cla: 0x80,
    ins: 0xca,
    p1: 0x01,
    p2: 0x01,
    data: Buffer.concat([
      encodeTlv(0x9f22, PROTOCOL_VERSION),
      encodeTlv(0x9f25, hash(Buffer.from(passType.identifier, 'utf8'))),
      encodeTlv(0x9f26, PASS_ONLY),
      encodeTlv(0x9f2b, FILTER),
    ]),
    le: 0,
  });
  if (answer.status === NO_PASS) return { status: 'no_pass' };
  if (answer.status === NOT_YET || answer.status === ACTIVATE) return { status: 'tap_again' };
  if (answer.status !== SUCCESS) {
    throw new ProtocolError(`the phone answered with ${answer.status.toString(16)}`);
  }
  return openCryptogram(cryptogramOf(answer.data), passType);
}

/** The content of the phone's response: key id, ephemeral key, encrypted message. */
export interface Cryptogram {
  readonly keyId: Uint8Array;
  readonly deviceX: Uint8Array;
  readonly sealed: Uint8Array;
}

export function cryptogramOf(data: Uint8Array): Cryptogram {
  const template = findTag(decodeTlv(data), 0x70);
  const bytes = template && findTag(decodeTlv(template), 0x9f27);
  if (bytes === undefined || bytes.length < KEY_ID_BYTES + X_BYTES + TIME_BYTES + TAG_BYTES) {
    throw new ProtocolError('the response has no message');
  }
  return {
    keyId: bytes.subarray(0, KEY_ID_BYTES),
    deviceX: bytes.subarray(KEY_ID_BYTES, KEY_ID_BYTES + X_BYTES),
    sealed: bytes.subarray(KEY_ID_BYTES + X_BYTES),
  };
}

/** Returns a key's identifier in a response: the hash of its x coordinate. */
export function keyIdOf(key: EphemeralKey): Uint8Array {
  return hash(key.publicKey.subarray(1)).subarray(0, KEY_ID_BYTES);
}

function openCryptogram(cryptogram: Cryptogram, passType: PassType): Vas {
  const { keyId, deviceX, sealed } = cryptogram;
  if (!Buffer.from(keyIdOf(passType.key)).equals(keyId)) {
    throw new ProtocolError('the pass is encrypted to another key');
  }
  // Either point with this x gives the same secret, so this takes the one with even y.
  const shared = passType.key.agree(Uint8Array.from([0x02, ...deviceX]));
  const plain = open(sealed, deriveKey(shared, passType.identifier));
  const seconds = Buffer.from(plain.subarray(0, TIME_BYTES)).readUInt32BE();
  return {
    status: 'read',
    message: plain.subarray(TIME_BYTES),
    at: new Date(APPLE_EPOCH_MS + seconds * 1000),
  };
}

/** Derives the key with one round of X9.63, because 32 bytes are enough. */
export function deriveKey(shared: Uint8Array, passIdentifier: string): Uint8Array {
  return hash(
    Buffer.concat([
      shared,
      Uint8Array.from([0, 0, 0, 1, 0x0d]),
      Buffer.from('id-aes256-GCM', 'latin1'),
      Buffer.from('ApplePay encrypted VAS data', 'latin1'),
      hash(Buffer.from(passIdentifier, 'utf8')),
    ]),
  );
}

/** Initialization vector. It may be zero, because each key is used only once. */
export const VAS_IV: Uint8Array = new Uint8Array(16);

function open(sealed: Uint8Array, key: Uint8Array): Uint8Array {
  const cipher = createDecipheriv('aes-256-gcm', key, VAS_IV, { authTagLength: TAG_BYTES });
  cipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const plain = cipher.update(sealed.subarray(0, -TAG_BYTES));
    return Uint8Array.from(Buffer.concat([plain, cipher.final()]));
  } catch (error) {
    throw new ProtocolError('the message was altered', { cause: error });
  }
}

function hash(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(createHash('sha256').update(bytes).digest());
}
