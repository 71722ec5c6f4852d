import { randomBytes, timingSafeEqual } from 'node:crypto';
import { type Answer, ProtocolError, send, type Transceive } from './apdu.ts';
import { BLOCK, cmac, decryptCbc, encryptCbc, pad, shortMac } from './cmac.ts';

/**
 * Commands and secure messaging for writing an NTAG 424 DNA. Sources: NXP's data sheet (NT4H2421Gx)
 * and AN12196, whose examples the tests use.
 */

export const NDEF_FILE = 0x02;
export const KEY_BYTES = 16;
/** Numbers of the four application keys besides the master key 0. */
export const OTHER_KEYS = [1, 2, 3, 4] as const;
/** Factory default of every key, and its version. */
export const FACTORY_KEY: Uint8Array = new Uint8Array(KEY_BYTES);
export const FACTORY_VERSION = 0;

const NXP_COMMANDS = 0x90;
const INS = {
  authenticate: 0x71,
  more: 0xaf,
  version: 0x60,
  signature: 0x3c,
  changeKey: 0xc4,
  keyVersion: 0x64,
  fileSettings: 0xf5,
  changeFileSettings: 0x5f,
  writeData: 0x8d,
} as const;
const OK = 0x9100;
const MORE = 0x91af;
/** The status word of a response that contains an originality signature. */
const SIGNED = 0x9190;
/** Status for a wrong key. */
const AUTHENTICATION_ERROR = 0x91ae;
const MAC_BYTES = 8;
const NXP = 0x04;
const NTAG = 0x04;
/** The storage size as the chip reports it: 256 to 512 bytes. */
const STORAGE = 0x11;

function command(transceive: Transceive, ins: number, data: Uint8Array): Promise<Answer> {
  return send(transceive, { cla: NXP_COMMANDS, ins, p1: 0, p2: 0, data, le: 0 });
}

function expected(answer: Answer, status = OK): Buffer {
  if (answer.status === status) return Buffer.from(answer.data);
  throw new ProtocolError(`the chip answered ${answer.status.toString(16)}`);
}

/** Returns the chip's UID in upper-case hex, or `null` for another type of chip. */
export async function chipNumber(transceive: Transceive): Promise<string | null> {
  const hardware = await command(transceive, INS.version, new Uint8Array());
  if (hardware.status !== MORE) return null;
  const [maker, kind, , , , storage] = hardware.data;
  expected(await command(transceive, INS.more, new Uint8Array()), MORE);
  const production = expected(await command(transceive, INS.more, new Uint8Array()));
  if (maker !== NXP || kind !== NTAG || storage !== STORAGE || production.length < 7) return null;
  return production.subarray(0, 7).toString('hex').toUpperCase();
}

/** Returns NXP's originality signature of the UID, or `null` if the chip has none. */
export async function makersSignature(transceive: Transceive): Promise<Uint8Array | null> {
  const answer = await command(transceive, INS.signature, Uint8Array.from([0]));
  return answer.status === SIGNED ? answer.data : null;
}

/** Reads the settings of a file, which needs no authentication. */
export async function fileSettings(transceive: Transceive, file: number): Promise<Buffer> {
  return expected(await command(transceive, INS.fileSettings, Uint8Array.from([file])));
}

/** @returns `null` if the chip has a different key. */
export async function authenticate(
  transceive: Transceive,
  using: { readonly number: number; readonly key: Uint8Array },
  random: Uint8Array = randomBytes(BLOCK),
): Promise<SecureSession | null> {
  const { number, key } = using;
  const first = await command(transceive, INS.authenticate, Uint8Array.from([number, 0]));
  const theirs = decryptCbc(key, wholeBlocks(expected(first, MORE), 1));
  const both = encryptCbc(key, Buffer.concat([random, rotated(theirs)]));
  const second = await command(transceive, INS.more, both);
  if (second.status === AUTHENTICATION_ERROR) return null;
  const plain = decryptCbc(key, wholeBlocks(expected(second), 2));
  // Checks that the chip knows the key, too.
  if (!timingSafeEqual(plain.subarray(4, 4 + BLOCK), rotated(random))) return null;
  return new SecureSession(transceive, {
    id: plain.subarray(0, 4),
    encryption: cmac(key, sessionVector('a55a', random, theirs)),
    mac: cmac(key, sessionVector('5aa5', random, theirs)),
  });
}

function wholeBlocks(bytes: Buffer, count: number): Buffer {
  if (bytes.length === count * BLOCK) return bytes;
  throw new ProtocolError('the authentication response has the wrong length');
}

function rotated(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)]);
}

function sessionVector(label: string, ours: Uint8Array, theirs: Uint8Array): Buffer {
  const mixed = ours.subarray(2, 8).map((byte, at) => byte ^ (theirs[at] ?? 0));
  const head = Buffer.from(`${label}00010080`, 'hex');
  return Buffer.concat([head, ours.subarray(0, 2), mixed, theirs.subarray(6), ours.subarray(8)]);
}

export interface SessionKeys {
  /** Transaction identifier: 4 bytes. */
  readonly id: Uint8Array;
  readonly encryption: Uint8Array;
  readonly mac: Uint8Array;
}

/** Sends commands under one authentication's session keys. An invalid response ends the session. */
export class SecureSession {
  readonly #transceive: Transceive;
  readonly #keys: SessionKeys;
  #counter: number;

  constructor(transceive: Transceive, keys: SessionKeys, counter = 0) {
    this.#transceive = transceive;
    this.#keys = keys;
    this.#counter = counter;
  }

  async keyVersion(number: number): Promise<number> {
    const head = Uint8Array.from([number]);
    const mac = this.#mac(INS.keyVersion, head);
    const answer = await command(this.#transceive, INS.keyVersion, Buffer.concat([head, mac]));
    return this.#checked(answer).readUInt8();
  }

  /** Writes to a file in plain communication mode. */
  async writeData(file: number, data: Uint8Array): Promise<void> {
    const head = Buffer.from([file, 0, 0, 0, data.length, 0, 0]);
    expected(await command(this.#transceive, INS.writeData, Buffer.concat([head, data])));
    this.#counter++;
  }

  async changeFileSettings(file: number, settings: Uint8Array): Promise<void> {
    this.#checked(await this.#sealed(INS.changeFileSettings, file, settings));
  }

  /** Changes a key other than the session's own. */
  async changeKey(number: number, change: KeyChange): Promise<void> {
    const mixed = change.to.map((byte, at) => byte ^ (change.from[at] ?? 0));
    const data = Buffer.concat([mixed, Uint8Array.from([change.version]), checksum(change.to)]);
    this.#checked(await this.#sealed(INS.changeKey, number, data));
  }

  /** Changes the session's own key, which ends the session. */
  async changeOwnKey(number: number, change: Omit<KeyChange, 'from'>): Promise<void> {
    const data = Buffer.concat([change.to, Uint8Array.from([change.version])]);
    expected(await this.#sealed(INS.changeKey, number, data));
  }

  #sealed(ins: number, about: number, data: Uint8Array): Promise<Answer> {
    const head = Uint8Array.from([about]);
    const vector = Buffer.concat([Buffer.from('a55a', 'hex'), this.#keys.id, this.#count()], BLOCK);
    const iv = encryptCbc(this.#keys.encryption, vector);
    const body = Buffer.concat([head, encryptCbc(this.#keys.encryption, pad(data), iv)]);
    return command(this.#transceive, ins, Buffer.concat([body, this.#mac(ins, body)]));
  }

  #count(): Buffer {
    return Buffer.from([this.#counter & 0xff, this.#counter >> 8]);
  }

  #mac(first: number, body: Uint8Array): Buffer {
    const head = Uint8Array.from([first]);
    return shortMac(this.#keys.mac, Buffer.concat([head, this.#count(), this.#keys.id, body]));
  }

  #checked(answer: Answer): Buffer {
    const bytes = expected(answer);
    this.#counter++;
    const data = bytes.subarray(0, -MAC_BYTES);
    const mac = bytes.subarray(-MAC_BYTES);
    if (mac.length === MAC_BYTES && timingSafeEqual(mac, this.#mac(0x00, data))) return data;
    throw new ProtocolError('the response has an invalid MAC');
  }
}

export interface KeyChange {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly version: number;
}

/** Computes CRC-32 without the final inversion, low byte first. */
export function checksum(bytes: Uint8Array): Buffer {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  const result = Buffer.alloc(4);
  result.writeUInt32LE(crc >>> 0);
  return result;
}
