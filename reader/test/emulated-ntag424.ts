import { createCipheriv, createDecipheriv, createECDH, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { cmac, writeSunMessage } from '../../src/core/sun-message.ts';
import { newUid } from '../../testkit/fixtures/core/card-chip.ts';
import type { Transceive } from '../src/protocols/apdu.ts';

/**
 * An NTAG 424 DNA emulated from NXP's data sheet: keys, access rights, secure messaging, mirrors.
 * It uses the server's cryptography, so that reader and chip do not share a mistake.
 */
export interface EmulatedChip {
  readonly transceive: Transceive;
  readonly uid: string;
  /** Successful and failed authentications. */
  readonly seen: { authenticated: number; refused: number };
}

const hex = (text: string) => Buffer.from(text, 'hex');
const NO_IV = Buffer.alloc(16);
const OK = hex('9100');
const ISO_OK = hex('9000');
const INTEGRITY = hex('911e');
const DENIED = hex('919d');
const NDEF = hex('d2760000850101');
const CAPABILITIES = hex('001720010000ff0406e104010000000506e10500808283000000000000000000');

interface Session {
  readonly key: number;
  readonly id: Buffer;
  readonly encryption: Buffer;
  readonly mac: Buffer;
  counter: number;
}

interface NdefFile {
  readonly bytes: Buffer;
  settings: Buffer;
}

function cbc(key: Buffer, bytes: Uint8Array, iv: Uint8Array = NO_IV): Buffer {
  return createCipheriv('aes-128-cbc', key, iv).setAutoPadding(false).update(bytes);
}

function openCbc(key: Buffer, bytes: Uint8Array, iv: Uint8Array = NO_IV): Buffer {
  return createDecipheriv('aes-128-cbc', key, iv).setAutoPadding(false).update(bytes);
}

function rotate(bytes: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)]);
}

function unpadded(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(0x80));
}

/** Replaces NXP, which signs its chips' UIDs. */
const maker = createECDH('secp224r1');
maker.generateKeys();
export const MAKER_KEY: Uint8Array = maker.getPublicKey();
const ORDER = 0xffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3dn;

/** Two real NXP chips with their signatures. */
export const REAL_CHIPS = [
  {
    uid: '0463474AA26A80',
    signature:
      '27E9A50E6CA4BA9037C02F7D20A80D0284D0C1D83C67F5A5AC1D8A4E' +
      'F86C9508417E4E9C6F85AA7920F0ABDED984CAF20467D66EA54BBF08',
  },
  {
    uid: '04C46C222A6380',
    signature:
      '344A806EBF704C05C19215D2F840529CE365AAD2D08A469A95896D75' +
      'D477D9FAB02A0C827E9F215BD8EB0E56A3A9A008FB75D706AABBD4DA',
  },
] as const;

const integer = (bytes: Buffer) => BigInt(`0x${bytes.toString('hex')}`);

/**
 * ECDSA over the UID itself: s = (e + r·d) / k, with the inverse of k by Fermat's little theorem.
 */
export function signUid(uid: string): Buffer {
  const once = createECDH('secp224r1');
  const r = integer(once.generateKeys().subarray(1, 29)) % ORDER;
  let [inverted, power, rest] = [1n, integer(once.getPrivateKey()), ORDER - 2n];
  for (; rest > 0n; rest >>= 1n) {
    if ((rest & 1n) === 1n) inverted = (inverted * power) % ORDER;
    power = (power * power) % ORDER;
  }
  const s = (inverted * (BigInt(`0x${uid}`) + r * integer(maker.getPrivateKey()))) % ORDER;
  return hex([r, s].map((part) => part.toString(16).padStart(56, '0')).join(''));
}

/** @param made The signature written in the factory; made with `MAKER_KEY` by default. */
export function emulatedChip(
  uid = newUid(),
  made: { readonly signature: Buffer | null } = { signature: signUid(uid) },
): EmulatedChip {
  const chip = new Chip(uid, made.signature);
  const transceive: Transceive = async (bytes) => chip.answer(Buffer.from(bytes));
  return { transceive, uid, seen: chip.seen };
}

class Chip {
  readonly seen = { authenticated: 0, refused: 0 };
  readonly #uid: string;
  readonly #signature: Buffer | null;
  readonly #keys = Array.from({ length: 5 }, () => ({ key: Buffer.alloc(16), version: 0 }));
  /**
   * Factory state: empty, freely readable and writable, with settings protected by the master key.
   */
  readonly #file: NdefFile = { bytes: Buffer.alloc(256), settings: hex('00e0ee') };
  #selected = 0;
  #counter = 0;
  #counted = false;
  #proof: { key: number; theirs: Buffer } | null = null;
  #parts: Buffer[] = [];
  #session: Session | null = null;

  constructor(uid: string, signature: Buffer | null) {
    this.#uid = uid;
    this.#signature = signature;
  }

  answer(bytes: Buffer): Buffer {
    const [cla, ins, p1 = 0, p2 = 0] = bytes;
    const data = bytes.subarray(5, 5 + (bytes[4] ?? 0));
    if (cla === 0x00) return this.#iso(ins ?? 0, { p1, p2, data, le: bytes.at(-1) ?? 0 });
    if (cla !== 0x90) return hex('6e00');
    // Any other command aborts an unfinished authentication.
    if (ins !== 0xaf) this.#proof = null;
    if (ins === 0x60) {
      this.#parts = [hex('04040201001105'), Buffer.concat([hex(this.#uid), Buffer.alloc(7)])];
      return Buffer.concat([hex('04040230001105'), hex('91af')]);
    }
    if (ins === 0xaf && this.#proof !== null) return this.#prove(data);
    if (ins === 0xaf) {
      const part = this.#parts.shift();
      if (part === undefined) return hex('911c');
      return Buffer.concat([part, this.#parts.length > 0 ? hex('91af') : OK]);
    }
    if (ins === 0x3c && this.#signature !== null) {
      return Buffer.concat([this.#signature, hex('9190')]);
    }
    if (ins === 0x71) return this.#challenge(data[0] ?? 0);
    if (ins === 0xf5 && this.#session === null) return this.#settings();
    if (ins === 0x8d) return this.#write(data);
    if (this.#session === null) return hex('91ae');
    if (ins === 0x64) return this.#keyVersion(this.#session, data);
    if (ins === 0xc4) return this.#changeKey(this.#session, data);
    if (ins === 0x5f) return this.#changeSettings(this.#session, data);
    return hex('911c');
  }

  #iso(ins: number, { p1, p2, data, le }: { p1: number; p2: number; data: Buffer; le: number }) {
    if (ins === 0xa4 && p1 === 0x04) {
      this.#session = null;
      this.#counted = false;
      return data.equals(NDEF) ? ISO_OK : hex('6a82');
    }
    if (ins === 0xa4) {
      this.#selected = data.readUInt16BE();
      return [0xe103, 0xe104].includes(this.#selected) ? ISO_OK : hex('6a82');
    }
    if (ins !== 0xb0) return hex('6d00');
    const bytes = this.#selected === 0xe103 ? CAPABILITIES : this.#mirrored();
    const at = p1 * 256 + p2;
    return Buffer.concat([bytes.subarray(at, at + le), ISO_OK]);
  }

  /**
   * Returns the file's content as read: the first read after a selection increments the counter.
   */
  #mirrored(): Buffer {
    const { bytes, settings } = this.#file;
    if (((settings[0] ?? 0) & 0x40) === 0 || this.#session !== null) return bytes;
    if (!this.#counted) this.#counter++;
    this.#counted = true;
    const [metaRead, fileRead] = [(settings[5] ?? 0) >> 4, (settings[5] ?? 0) & 15];
    const keys = { metaRead: this.#key(metaRead), fileRead: this.#key(fileRead) };
    const tap = { uid: this.#uid, counter: this.#counter };
    const { piccData, mac } = writeSunMessage(tap, keys, Buffer.alloc(5, this.#counter));
    const copy = Buffer.from(bytes);
    copy.write(piccData.toString('hex').toUpperCase(), settings.readUIntLE(6, 3), 'latin1');
    copy.write(mac.toString('hex').toUpperCase(), settings.readUIntLE(12, 3), 'latin1');
    return copy;
  }

  #key(number: number): Buffer {
    return this.#keys[number]?.key ?? Buffer.alloc(16);
  }

  #challenge(number: number): Buffer {
    if (number > 4) return hex('9140');
    this.#session = null;
    const theirs = randomBytes(16);
    this.#proof = { key: number, theirs };
    return Buffer.concat([cbc(this.#key(number), theirs), hex('91af')]);
  }

  #prove(data: Buffer): Buffer {
    const { key: number, theirs } = this.#proof ?? { key: 0, theirs: NO_IV };
    this.#proof = null;
    const key = this.#key(number);
    const plain = openCbc(key, data);
    const reader = plain.subarray(0, 16);
    if (!plain.subarray(16).equals(rotate(theirs))) {
      this.seen.refused++;
      return hex('91ae');
    }
    const mixed = Buffer.from(reader.subarray(2, 8).map((byte, at) => byte ^ (theirs[at] ?? 0)));
    const vector = (label: string) =>
      Buffer.concat([
        ...[hex(label), hex('00010080'), reader.subarray(0, 2), mixed],
        ...[theirs.subarray(6), reader.subarray(8)],
      ]);
    const id = randomBytes(4);
    const encryption = cmac(key, vector('a55a'));
    this.#session = { key: number, id, encryption, mac: cmac(key, vector('5aa5')), counter: 0 };
    this.seen.authenticated++;
    const proof = Buffer.concat([id, rotate(reader), Buffer.alloc(12)]);
    return Buffer.concat([cbc(key, proof), OK]);
  }

  #mac(session: Session, first: number, body: Uint8Array): Buffer {
    const counter = Buffer.from([session.counter & 255, session.counter >> 8]);
    const whole = cmac(session.mac, Buffer.concat([Buffer.of(first), counter, session.id, body]));
    return Buffer.from(whole.filter((_, index) => index % 2 === 1));
  }

  #signed(session: Session, data: Buffer = Buffer.alloc(0)): Buffer {
    session.counter++;
    return Buffer.concat([data, this.#mac(session, 0, data), OK]);
  }

  /**
   * Returns the decrypted data of a session's command, or `null` if its MAC is wrong, which ends
   * the session.
   */
  #opened(session: Session, ins: number, data: Buffer): Buffer | null {
    const body = data.subarray(0, -8);
    if (!this.#mac(session, ins, body).equals(data.subarray(-8))) {
      this.#session = null;
      return null;
    }
    const counter = Buffer.from([session.counter & 255, session.counter >> 8]);
    const vector = Buffer.concat([hex('a55a'), session.id, counter], 16);
    const iv = cbc(session.encryption, vector);
    return unpadded(openCbc(session.encryption, body.subarray(1), iv));
  }

  #keyVersion(session: Session, data: Buffer): Buffer {
    const body = data.subarray(0, -8);
    if (!this.#mac(session, 0x64, body).equals(data.subarray(-8))) return INTEGRITY;
    return this.#signed(session, Buffer.of(this.#keys[body[0] ?? 0]?.version ?? 0));
  }

  #changeKey(session: Session, data: Buffer): Buffer {
    const plain = this.#opened(session, 0xc4, data);
    const number = data[0] ?? 0;
    if (plain === null) return INTEGRITY;
    if (session.key !== 0) return DENIED;
    const version = plain[16] ?? 0;
    if (number === session.key) {
      if (plain.length !== 17) return INTEGRITY;
      this.#keys[number] = { key: Buffer.from(plain.subarray(0, 16)), version };
      this.#session = null;
      return OK;
    }
    const old = this.#key(number);
    const key = Buffer.from(plain.subarray(0, 16).map((byte, at) => byte ^ (old[at] ?? 0)));
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(~crc32(key) >>> 0);
    if (!checksum.equals(plain.subarray(17))) return INTEGRITY;
    this.#keys[number] = { key, version };
    return this.#signed(session);
  }

  #changeSettings(session: Session, data: Buffer): Buffer {
    const plain = this.#opened(session, 0x5f, data);
    if (plain === null) return INTEGRITY;
    const mayChange = (this.#file.settings[1] ?? 0) & 15;
    if (mayChange !== session.key) return DENIED;
    const isMirror = plain.length === 15 && plain[0] === 0x40 && plain[3] === 0xc1;
    const fits = plain.readUIntLE(6, 3) + 32 <= plain.readUIntLE(12, 3);
    if (data[0] !== 2 || !isMirror || !fits) return hex('919e');
    this.#file.settings = Buffer.from(plain);
    return this.#signed(session);
  }

  #settings(): Buffer {
    const { settings } = this.#file;
    const head = Buffer.concat([hex('00'), settings.subarray(0, 3), hex('000100')]);
    return Buffer.concat([head, settings.subarray(3), OK]);
  }

  #write(data: Buffer): Buffer {
    const { settings, bytes } = this.#file;
    const rights = [(settings[2] ?? 0) & 15, (settings[1] ?? 0) >> 4];
    const isFree = rights.includes(0xe);
    if (!isFree && !rights.includes(this.#session?.key ?? -1)) return DENIED;
    data.copy(bytes, data.readUIntLE(1, 3), 7);
    if (this.#session !== null) this.#session.counter++;
    return OK;
  }
}
