import { hexToBytes, toHex } from 'viem';
import type { PrivateKeyAccount } from 'viem/accounts';
import type { Transceive } from '../src/protocols/apdu.ts';
import { encodeTlv } from '../src/protocols/tlv.ts';
import { tag } from './emulated-phones.ts';

/** Chips that sign, emulated from their manufacturers' documents. viem signs for them. */

const hex = (text: string) => Buffer.from(text, 'hex');
const OK = hex('9000');
const NOT_FOUND = hex('6a82');
const HALO = hex('481199130e9f01');
const CASH = hex('a00000080400010301');
const KEYCARD = hex('a00000080400010101');

function parted(signature: string) {
  const bytes = Buffer.from(signature.slice(2), 'hex');
  return { r: bytes.subarray(0, 32), s: bytes.subarray(32, 64), v: (bytes[64] ?? 0) - 27 };
}

function derInteger(bytes: Buffer): Uint8Array {
  const from = bytes.findIndex((byte) => byte !== 0);
  const short = bytes.subarray(from);
  return encodeTlv(0x02, (short[0] ?? 0) < 0x80 ? short : Buffer.concat([Buffer.of(0), short]));
}

async function signed(account: PrivateKeyAccount, digest: Uint8Array) {
  const { r, s, v } = parted(await account.sign({ hash: toHex(digest) }));
  const der = encodeTlv(0x30, Buffer.concat([derInteger(r), derInteger(s)]));
  return { der, raw: Buffer.concat([r, s, Buffer.of(v)]) };
}

function template(key: Uint8Array, der: Uint8Array): Buffer {
  const inside = Buffer.concat([encodeTlv(0x80, key), der]);
  return Buffer.concat([encodeTlv(0xa0, inside), OK]);
}

function dataOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.subarray(5, 5 + (bytes[4] ?? 0)));
}

function selects(bytes: Uint8Array, aid: Buffer): boolean {
  return bytes[1] === 0xa4 && bytes[2] === 0x04 && dataOf(bytes).equals(aid);
}

/** Returns a HaLo chip: it shows a URL and takes commands through its own application. */
export function haloChip(account: PrivateKeyAccount): Transceive {
  const key = Buffer.from(hexToBytes(account.publicKey));
  const ndef = tag({ address: `https://nfc.ethglobal.com/?av=A02&pk1=${key.toString('hex')}` });
  return async (bytes) => {
    if (selects(bytes, HALO)) return OK;
    if (bytes[0] !== 0xb0) return ndef(bytes);
    const [code, slot, ...digest] = dataOf(bytes);
    if (code === 0x02) return Buffer.concat([Buffer.of(key.length), key, Buffer.of(0), OK]);
    if (code !== 0x01 || slot !== 1 || digest.length !== 32) return hex('e1019000');
    return Buffer.concat([(await signed(account, Uint8Array.from(digest))).der, OK]);
  };
}

export function keycardCash(account: PrivateKeyAccount): Transceive {
  const key = hexToBytes(account.publicKey);
  return async (bytes) => {
    if (selects(bytes, CASH)) {
      const about = Buffer.concat([encodeTlv(0x80, key), encodeTlv(0x02, hex('0301'))]);
      return Buffer.concat([encodeTlv(0xa4, about), OK]);
    }
    if (bytes[0] !== 0x80 || bytes[1] !== 0xc0) return NOT_FOUND;
    return template(key, (await signed(account, dataOf(bytes))).der);
  };
}

/**
 * `path`: the derivation path that its owner allowed without a PIN. `raw`: responds like newer
 * cards.
 */
export function keycard(
  account: PrivateKeyAccount,
  { path = true, raw = false }: { readonly path?: boolean; readonly raw?: boolean } = {},
): Transceive {
  return async (bytes) => {
    if (selects(bytes, KEYCARD)) return Buffer.concat([encodeTlv(0xa4, hex('8f00')), OK]);
    if (bytes[0] !== 0x80 || bytes[1] !== 0xc0) return NOT_FOUND;
    if (bytes[2] !== 0x03) return hex('6985');
    if (!path) return hex('6a88');
    const both = await signed(account, dataOf(bytes));
    if (raw) return Buffer.concat([both.raw, OK]);
    return template(hexToBytes(account.publicKey), both.der);
  };
}
