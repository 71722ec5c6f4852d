import { createCipheriv, createDecipheriv } from 'node:crypto';

/** AES-128 for smart cards: CBC without padding, and CMAC (RFC 4493). */

export const BLOCK = 16;
export const ZERO_BLOCK: Uint8Array = new Uint8Array(BLOCK);

export function encryptCbc(
  key: Uint8Array,
  plain: Uint8Array,
  iv: Uint8Array = ZERO_BLOCK,
): Buffer {
  return createCipheriv('aes-128-cbc', key, iv).setAutoPadding(false).update(plain);
}

export function decryptCbc(
  key: Uint8Array,
  sealed: Uint8Array,
  iv: Uint8Array = ZERO_BLOCK,
): Buffer {
  return createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false).update(sealed);
}

/** Pads bytes by ISO/IEC 9797-1 method 2: a one bit, then zeros. */
export function pad(bytes: Uint8Array): Buffer {
  const length = (Math.floor(bytes.length / BLOCK) + 1) * BLOCK;
  return Buffer.concat([bytes, Uint8Array.from([0x80])], length);
}

export function cmac(key: Uint8Array, message: Uint8Array): Buffer {
  const isWhole = message.length > 0 && message.length % BLOCK === 0;
  const once = double(encryptCbc(key, ZERO_BLOCK));
  const mask = isWhole ? once : double(once);
  const padded = isWhole ? Buffer.from(message) : pad(message);
  const last = padded.length - BLOCK;
  for (const [at, byte] of mask.entries()) {
    padded.writeUInt8(padded.readUInt8(last + at) ^ byte, last + at);
  }
  return encryptCbc(key, padded).subarray(-BLOCK);
}

/** Returns every second byte of a MAC, the way NXP chips truncate it. */
export function shortMac(key: Uint8Array, message: Uint8Array): Buffer {
  return Buffer.from(cmac(key, message).filter((_, index) => index % 2 === 1));
}

/** Multiplies by x in GF(2^128). */
function double(block: Buffer): Buffer {
  const carried = (block.readUInt8(0) & 0x80) !== 0;
  const doubled = Buffer.from(block.map((byte, at) => (byte << 1) | ((block[at + 1] ?? 0) >> 7)));
  if (carried) doubled.writeUInt8(doubled.readUInt8(BLOCK - 1) ^ 0x87, BLOCK - 1);
  return doubled;
}
