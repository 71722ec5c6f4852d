import { createCipheriv, createDecipheriv, timingSafeEqual } from 'node:crypto';

/**
 * The message that an NTAG 424 DNA card adds to its URL at each tap ("secure unique NFC"): the
 * encrypted UID and tap counter, and a MAC over both. Source: NXP AN12196 and the chip's data
 * sheet.
 */

/** The two keys of one card, 16 bytes each. */
export interface CardKeys {
  /** SDMMetaReadKey: decrypts UID and counter. */
  readonly metaRead: Buffer;
  /** SDMFileReadKey, from which the key of the MAC is derived. */
  readonly fileRead: Buffer;
}

export interface SunMessage {
  /** 16 bytes, encrypted. */
  readonly piccData: Buffer;
  /** 8 bytes. */
  readonly mac: Buffer;
}

export interface CardTap {
  /** 7 bytes as uppercase hex. */
  readonly uid: string;
  /** Increases by one with each tap: 0 to 2^24 - 1. */
  readonly counter: number;
}

const BLOCK = 16;
const NO_IV = Buffer.alloc(BLOCK);
/** The tag byte of the only format that our cards use: with UID (7 bytes) and counter. */
const PICC_TAG = 0xc7;
const UID_BYTES = 7;
const COUNTER_BYTES = 3;
/** The constant from AN12196 with which the MAC's session key is derived. */
const SESSION_VECTOR = Buffer.from('3cc300010080', 'hex');

/** Returns the UID and the counter; null if the message was not created with this card's keys. */
export function readSunMessage(message: SunMessage, keys: CardKeys): CardTap | null {
  const plain = decryptBlock(keys.metaRead, message.piccData);
  if (plain[0] !== PICC_TAG) return null;
  const identity = plain.subarray(1, 1 + UID_BYTES + COUNTER_BYTES);
  if (!timingSafeEqual(macOf(identity, keys.fileRead), message.mac)) return null;
  return {
    uid: identity.subarray(0, UID_BYTES).toString('hex').toUpperCase(),
    counter: identity.readUIntLE(UID_BYTES, COUNTER_BYTES),
  };
}

/** Creates the message of a card with these keys, for the card emulator of tests and test mode. */
export function writeSunMessage(tap: CardTap, keys: CardKeys, padding: Buffer): SunMessage {
  const identity = Buffer.alloc(UID_BYTES + COUNTER_BYTES);
  identity.write(tap.uid, 'hex');
  identity.writeUIntLE(tap.counter, UID_BYTES, COUNTER_BYTES);
  const plain = Buffer.concat([Buffer.from([PICC_TAG]), identity, padding], BLOCK);
  return { piccData: encryptBlock(keys.metaRead, plain), mac: macOf(identity, keys.fileRead) };
}

/**
 * Computes the MAC of a tap. The UID and counter determine its key; its input is empty, because our
 * cards do not mirror file data.
 */
function macOf(identity: Buffer, fileReadKey: Buffer): Buffer {
  const session = cmac(fileReadKey, Buffer.concat([SESSION_VECTOR, identity]));
  const whole = cmac(session, Buffer.alloc(0));
  // The chip sends only every second byte of the MAC.
  return Buffer.from(whole.filter((_byte, index) => index % 2 === 1));
}

/** Computes AES-CMAC (RFC 4493). OpenSSL has it, but node:crypto does not expose it. */
export function cmac(key: Buffer, message: Buffer): Buffer {
  const first = double(encryptBlock(key, NO_IV));
  const whole = message.length > 0 && message.length % BLOCK === 0;
  const padded = whole ? Buffer.from(message) : pad(message);
  const subkey = whole ? first : double(first);
  const last = padded.length - BLOCK;
  for (let i = 0; i < BLOCK; i++) {
    padded.writeUInt8(padded.readUInt8(last + i) ^ subkey.readUInt8(i), last + i);
  }
  const cipher = createCipheriv('aes-128-cbc', key, NO_IV).setAutoPadding(false);
  return cipher.update(padded).subarray(last);
}

function pad(message: Buffer): Buffer {
  const length = (Math.floor(message.length / BLOCK) + 1) * BLOCK;
  return Buffer.concat([message, Buffer.from([0x80])], length);
}

/** Multiplies by x in GF(2^128). */
function double(block: Buffer): Buffer {
  const value = BigInt(`0x${block.toString('hex')}`) << 1n;
  const overflow = value >> 128n;
  const reduced = overflow === 0n ? value : value ^ (1n << 128n) ^ 0x87n;
  return Buffer.from(reduced.toString(16).padStart(2 * BLOCK, '0'), 'hex');
}

function encryptBlock(key: Buffer, block: Buffer): Buffer {
  return createCipheriv('aes-128-cbc', key, NO_IV).setAutoPadding(false).update(block);
}

function decryptBlock(key: Buffer, block: Buffer): Buffer {
  return createDecipheriv('aes-128-cbc', key, NO_IV).setAutoPadding(false).update(block);
}
