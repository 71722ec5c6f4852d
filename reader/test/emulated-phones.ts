import {
  createCipheriv,
  createHmac,
  createPublicKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  verify,
} from 'node:crypto';
import { deflateSync } from 'node:zlib';
import type { Transceive } from '../src/protocols/apdu.ts';
import { decodeMessage, encodeMessage, externalRecord, findRecord } from '../src/protocols/ndef.ts';
import { createEphemeralKey, type EphemeralKey } from '../src/protocols/p256.ts';
import { decodeTlv, encodeTlv, findTag } from '../src/protocols/tlv.ts';
import { deriveKey, keyIdOf, VAS_IV } from '../src/protocols/vas.ts';

/** Phones and cards, emulated from public protocol descriptions. */

export interface GooglePhone {
  readonly transceive: Transceive;
  /** The phone's observations. Like a real phone, it verifies the reader's signature. */
  readonly seen: { signed: boolean; portions: number };
}

export interface GooglePhoneOptions {
  readonly collectorId: number;
  readonly collectorKey: KeyObject;
  /** The redemption value of its pass, or `null` without one. */
  readonly value: string | null;
  readonly compressed?: boolean;
  /** Maximum bytes per response. */
  readonly portion?: number;
  /** Older phones return nonce and key only after Smart Tap itself is selected. */
  readonly old?: boolean;
  /** Type of the pass: generic, as ours is, or a loyalty card. */
  readonly object?: 'gr' | 'ly';
}

const hex = (text: string) => Buffer.from(text, 'hex');
const OK = hex('9000');
const WALLET = Buffer.from('OSE.VAS.01', 'latin1');
const SMART_TAP = hex('a000000476d0000111');
const NOT_FOUND = hex('6a82');

export function googlePhone(options: GooglePhoneOptions): GooglePhone {
  const nonce = randomBytes(32);
  const key = createEphemeralKey();
  const seen = { signed: false, portions: 0 };
  let keys: Keys | null = null;
  let pending = Buffer.alloc(0);
  const portion = options.portion ?? 250;
  const next = () => {
    seen.portions++;
    const now = pending.subarray(0, portion);
    pending = pending.subarray(portion);
    return Buffer.concat([now, pending.length > 0 ? hex('9100') : OK]);
  };
  const transceive: Transceive = async (bytes) => {
    const { ins, data } = commandOf(bytes);
    if (ins === 0xa4 && WALLET.equals(data)) return wallet(options.old ? null : { nonce, key });
    if (ins === 0xa4 && SMART_TAP.equals(data)) return smartTap(nonce);
    if (ins === 0x53) {
      keys = negotiate(data, { nonce, key, options });
      seen.signed = keys !== null;
      return keys === null ? hex('9500') : Buffer.concat([negotiated(data, key), OK]);
    }
    if (ins === 0x50 && keys !== null) {
      if (options.value === null) return hex('9001');
      const { value, compressed, object } = options;
      pending = passData(data, { keys, value, compressed, object });
      return next();
    }
    return ins === 0xc0 ? next() : NOT_FOUND;
  };
  return { transceive, seen };
}

interface Keys {
  readonly aes: Buffer;
  readonly mac: Buffer;
}

function commandOf(bytes: Uint8Array) {
  const length = bytes.length > 5 ? (bytes[4] ?? 0) : 0;
  return {
    ins: bytes[1],
    p1: bytes[2],
    p2: bytes[3],
    data: Buffer.from(bytes.subarray(5, 5 + length)),
  };
}

function wallet(fresh: { nonce: Uint8Array; key: EphemeralKey } | null): Uint8Array {
  const entry = Buffer.concat([
    encodeTlv(0x4f, SMART_TAP),
    encodeTlv(0x87, hex('01')),
    encodeTlv(
      0x73,
      Buffer.concat([encodeTlv(0xdf6d, hex('0000')), encodeTlv(0xdf4d, hex('0001'))]),
    ),
  ]);
  const template = Buffer.concat([
    encodeTlv(0x50, Buffer.from('AndroidPay', 'latin1')),
    encodeTlv(0xc0, hex('0001')),
    encodeTlv(0xc1, hex('cc00000000008080')),
    ...(fresh === null ? [] : [encodeTlv(0xc2, fresh.nonce), encodeTlv(0xc3, fresh.key.publicKey)]),
    encodeTlv(0xa5, encodeTlv(0xbf0c, encodeTlv(0x61, entry))),
  ]);
  return Buffer.concat([encodeTlv(0x6f, template), OK]);
}

function smartTap(nonce: Uint8Array): Uint8Array {
  const message = encodeMessage(externalRecord('mdn', hex('04'), nonce));
  return Buffer.concat([hex('00000001'), message, OK]);
}

/**
 * Verifies the reader's proof. @returns the session keys, or `null` if the reader is not
 * authorized.
 */
function negotiate(
  data: Uint8Array,
  phone: { nonce: Uint8Array; key: EphemeralKey; options: GooglePhoneOptions },
): Keys | null {
  const request = findRecord(decodeMessage(data), 'ngr') ?? Buffer.alloc(2);
  const crypto = findRecord(decodeMessage(request.subarray(2)), 'cpr') ?? Buffer.alloc(70);
  const readerNonce = crypto.subarray(0, 32);
  const readerKey = crypto.subarray(33, 66);
  const proof = decodeMessage(crypto.subarray(70));
  const signature = (findRecord(proof, 'sig') ?? Buffer.alloc(1)).subarray(1);
  const collector = (findRecord(proof, 'cld') ?? Buffer.alloc(1)).subarray(1);
  const signed = Buffer.concat([readerNonce, phone.nonce, collector, readerKey]);
  const known = Buffer.from(collector).readUInt32BE() === phone.options.collectorId;
  if (!known || !verify('sha256', signed, createPublicKey(phone.options.collectorKey), signature)) {
    return null;
  }
  const info = Buffer.concat([signed, signature]);
  const secret = phone.key.agree(readerKey);
  const bytes = Buffer.from(hkdfSync('sha256', secret, phone.key.publicKey, info, 48));
  return { aes: bytes.subarray(0, 16), mac: bytes.subarray(16) };
}

function sessionIn(data: Uint8Array, type: string): Uint8Array {
  const request = findRecord(decodeMessage(data), type) ?? Buffer.alloc(2);
  return findRecord(decodeMessage(request.subarray(2)), 'ses') ?? Buffer.alloc(10);
}

function answeredSession(data: Uint8Array, type: string) {
  const session = Buffer.from(sessionIn(data, type));
  return externalRecord('ses', session.subarray(0, 8), Buffer.from([(session[8] ?? 0) + 1, 1]));
}

function negotiated(data: Uint8Array, key: EphemeralKey): Uint8Array {
  const inner = encodeMessage(answeredSession(data, 'ngr'), externalRecord('dpk', key.publicKey));
  return encodeMessage(externalRecord('nrs', inner));
}

function passData(
  data: Uint8Array,
  pass: {
    keys: Keys;
    value: string;
    compressed: boolean | undefined;
    object: 'gr' | 'ly' | undefined;
  },
): Buffer<ArrayBuffer> {
  const issuer = externalRecord('i', hex('04'), hex('0102030405'));
  const content = externalRecord('n', hex('00'), Buffer.from(pass.value, 'utf8'));
  // A loyalty card also names the type of its content.
  const number = pass.object === 'ly' ? { ...content, type: 'T', id: 'n' } : content;
  const object = externalRecord(pass.object ?? 'gr', encodeMessage(issuer, number));
  const plain = encodeMessage(externalRecord('asv', encodeMessage(issuer, object)));
  const packed = pass.compressed ? deflateSync(plain) : plain;
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-128-ctr', pass.keys.aes, Buffer.concat([iv, Buffer.alloc(4)]));
  const sealed = Buffer.concat([iv, cipher.update(packed), cipher.final()]);
  const mac = createHmac('sha256', pass.keys.mac).update(sealed).digest();
  const bundle = externalRecord('reb', Buffer.from([pass.compressed ? 3 : 1]), sealed, mac);
  const inner = encodeMessage(answeredSession(data, 'srq'), bundle);
  return Buffer.from(encodeMessage(externalRecord('srs', inner)));
}

export interface ApplePhoneOptions {
  readonly passIdentifier: string;
  /** The reader's public key, as stored in the pass. */
  readonly passKey: EphemeralKey;
  readonly message: string;
  readonly at: Date;
}

const APPLE_EPOCH_S = Date.UTC(2001, 0, 1) / 1000;

export function applePhone(options: ApplePhoneOptions): Transceive {
  return async (bytes) => {
    const { ins, data } = commandOf(bytes);
    if (ins === 0xa4 && WALLET.equals(data)) {
      const template = Buffer.concat([
        encodeTlv(0x50, Buffer.from('ApplePay', 'latin1')),
        encodeTlv(0x9f21, hex('0100')),
        encodeTlv(0x9f24, randomBytes(4)),
        encodeTlv(0x9f23, hex('0000003e')),
      ]);
      return Buffer.concat([encodeTlv(0x6f, template), OK]);
    }
    if (ins !== 0xca) return NOT_FOUND;
    if (findTag(decodeTlv(data), 0x9f25) === undefined) return hex('6a80');
    return Buffer.concat([vasAnswer(options), OK]);
  };
}

function vasAnswer(options: ApplePhoneOptions): Uint8Array {
  const device = createEphemeralKey();
  const key = deriveKey(device.agree(options.passKey.publicKey), options.passIdentifier);
  const time = Buffer.alloc(4);
  time.writeUInt32BE(Math.floor(options.at.getTime() / 1000) - APPLE_EPOCH_S);
  const cipher = createCipheriv('aes-256-gcm', key, VAS_IV);
  const sealed = Buffer.concat([
    cipher.update(Buffer.concat([time, Buffer.from(options.message, 'utf8')])),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
  const cryptogram = Buffer.concat([
    keyIdOf(options.passKey),
    device.publicKey.subarray(1),
    sealed,
  ]);
  const fields = [encodeTlv(0x9f2a, Buffer.alloc(0)), encodeTlv(0x9f27, cryptogram)];
  return encodeTlv(0x70, Buffer.concat(fields));
}

/** Emulates a type 4 tag with one record: a URL or a text. */
export function tag(content: { readonly address: string } | { readonly text: string }): Transceive {
  const record =
    'address' in content
      ? { type: 'U', payload: Buffer.concat([hex('00'), Buffer.from(content.address, 'utf8')]) }
      : { type: 'T', payload: Buffer.concat([hex('02656e'), Buffer.from(content.text, 'utf8')]) };
  const message = encodeMessage({ tnf: 1, id: '', ...record });
  const length = Buffer.alloc(2);
  length.writeUInt16BE(message.length);
  const files = new Map<number, Buffer>([
    [0xe103, hex('000f20003b00340406e10400ff00ff')],
    [0xe104, Buffer.concat([length, message])],
  ]);
  let file = Buffer.alloc(0);
  return async (bytes) => {
    const { ins, p1 = 0, p2 = 0, data } = commandOf(bytes);
    if (ins === 0xa4 && p1 === 0x04) {
      return data.equals(hex('d2760000850101')) ? OK : NOT_FOUND;
    }
    if (ins === 0xa4) {
      const chosen = files.get(data.readUInt16BE());
      if (chosen === undefined) return NOT_FOUND;
      file = Buffer.from(chosen);
      return OK;
    }
    if (ins !== 0xb0) return hex('6d00');
    const at = p1 * 256 + p2;
    return Buffer.concat([file.subarray(at, at + (bytes[4] ?? 0)), OK]);
  };
}

/** A bank card, which has none of our applications. */
export const bankCard: Transceive = async () => NOT_FOUND;
