import { randomBytes, timingSafeEqual } from 'node:crypto';
import { ProtocolError, send } from './apdu.js';
import { BLOCK, cmac, decryptCbc, encryptCbc, pad, shortMac } from './cmac.js';
/**
 * The commands of an NTAG 424 DNA by which it is written, and its secure messaging. Sources: NXP's
 * data sheet of the chip (NT4H2421Gx) and AN12196, whose examples the tests repeat.
 */
export const NDEF_FILE = 0x02;
export const KEY_BYTES = 16;
/** Four keys beside the master key, which is number 0. */
export const OTHER_KEYS = [1, 2, 3, 4];
/** What every key of a new chip is, and the version that goes with it. */
export const FACTORY_KEY = new Uint8Array(KEY_BYTES);
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
};
const OK = 0x9100;
const MORE = 0x91af;
/** How the chip ends its maker's signature. */
const SIGNED = 0x9190;
/** The key is another one. */
const AUTHENTICATION_ERROR = 0x91ae;
const MAC_BYTES = 8;
const NXP = 0x04;
const NTAG = 0x04;
/** The size that a chip of this kind reports: 256 to 512 bytes. */
const STORAGE = 0x11;
function command(transceive, ins, data) {
    return send(transceive, { cla: NXP_COMMANDS, ins, p1: 0, p2: 0, data, le: 0 });
}
function expected(answer, status = OK) {
    if (answer.status === status)
        return Buffer.from(answer.data);
    throw new ProtocolError(`the chip answered ${answer.status.toString(16)}`);
}
/** The chip's number in upper case hex; null for a chip of another kind. */
export async function chipNumber(transceive) {
    const hardware = await command(transceive, INS.version, new Uint8Array());
    if (hardware.status !== MORE)
        return null;
    const [maker, kind, , , , storage] = hardware.data;
    expected(await command(transceive, INS.more, new Uint8Array()), MORE);
    const production = expected(await command(transceive, INS.more, new Uint8Array()));
    if (maker !== NXP || kind !== NTAG || storage !== STORAGE || production.length < 7)
        return null;
    return production.subarray(0, 7).toString('hex').toUpperCase();
}
/** What its maker has signed of the chip's number; null for a chip that has no signature. */
export async function makersSignature(transceive) {
    const answer = await command(transceive, INS.signature, Uint8Array.from([0]));
    return answer.status === SIGNED ? answer.data : null;
}
/** What the chip says of a file; anybody may ask. */
export async function fileSettings(transceive, file) {
    return expected(await command(transceive, INS.fileSettings, Uint8Array.from([file])));
}
/** A session with one of the chip's keys; null where the chip has another key. */
export async function authenticate(transceive, using, random = randomBytes(BLOCK)) {
    const { number, key } = using;
    const first = await command(transceive, INS.authenticate, Uint8Array.from([number, 0]));
    const theirs = decryptCbc(key, wholeBlocks(expected(first, MORE), 1));
    const both = encryptCbc(key, Buffer.concat([random, rotated(theirs)]));
    const second = await command(transceive, INS.more, both);
    if (second.status === AUTHENTICATION_ERROR)
        return null;
    const plain = decryptCbc(key, wholeBlocks(expected(second), 2));
    // The chip has to know the key as well.
    if (!timingSafeEqual(plain.subarray(4, 4 + BLOCK), rotated(random)))
        return null;
    return new SecureSession(transceive, {
        id: plain.subarray(0, 4),
        encryption: cmac(key, sessionVector('a55a', random, theirs)),
        mac: cmac(key, sessionVector('5aa5', random, theirs)),
    });
}
function wholeBlocks(bytes, count) {
    if (bytes.length === count * BLOCK)
        return bytes;
    throw new ProtocolError('a proof of the wrong length');
}
function rotated(bytes) {
    return Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)]);
}
function sessionVector(label, ours, theirs) {
    const mixed = ours.subarray(2, 8).map((byte, at) => byte ^ (theirs[at] ?? 0));
    const head = Buffer.from(`${label}00010080`, 'hex');
    return Buffer.concat([head, ours.subarray(0, 2), mixed, theirs.subarray(6), ours.subarray(8)]);
}
/** Commands under the keys of one authentication. A wrong answer ends it. */
export class SecureSession {
    #transceive;
    #keys;
    #counter;
    constructor(transceive, keys, counter = 0) {
        this.#transceive = transceive;
        this.#keys = keys;
        this.#counter = counter;
    }
    async keyVersion(number) {
        const head = Uint8Array.from([number]);
        const mac = this.#mac(INS.keyVersion, head);
        const answer = await command(this.#transceive, INS.keyVersion, Buffer.concat([head, mac]));
        return this.#checked(answer).readUInt8();
    }
    /** Writes to a file whose content travels in the clear. */
    async writeData(file, data) {
        const head = Buffer.from([file, 0, 0, 0, data.length, 0, 0]);
        expected(await command(this.#transceive, INS.writeData, Buffer.concat([head, data])));
        this.#counter++;
    }
    async changeFileSettings(file, settings) {
        this.#checked(await this.#sealed(INS.changeFileSettings, file, settings));
    }
    /** Changes a key other than that of this session. */
    async changeKey(number, change) {
        const mixed = change.to.map((byte, at) => byte ^ (change.from[at] ?? 0));
        const data = Buffer.concat([mixed, Uint8Array.from([change.version]), checksum(change.to)]);
        this.#checked(await this.#sealed(INS.changeKey, number, data));
    }
    /** Changes the key of this session, which ends with it. */
    async changeOwnKey(number, change) {
        const data = Buffer.concat([change.to, Uint8Array.from([change.version])]);
        expected(await this.#sealed(INS.changeKey, number, data));
    }
    #sealed(ins, about, data) {
        const head = Uint8Array.from([about]);
        const vector = Buffer.concat([Buffer.from('a55a', 'hex'), this.#keys.id, this.#count()], BLOCK);
        const iv = encryptCbc(this.#keys.encryption, vector);
        const body = Buffer.concat([head, encryptCbc(this.#keys.encryption, pad(data), iv)]);
        return command(this.#transceive, ins, Buffer.concat([body, this.#mac(ins, body)]));
    }
    #count() {
        return Buffer.from([this.#counter & 0xff, this.#counter >> 8]);
    }
    #mac(first, body) {
        const head = Uint8Array.from([first]);
        return shortMac(this.#keys.mac, Buffer.concat([head, this.#count(), this.#keys.id, body]));
    }
    #checked(answer) {
        const bytes = expected(answer);
        this.#counter++;
        const data = bytes.subarray(0, -MAC_BYTES);
        const mac = bytes.subarray(-MAC_BYTES);
        if (mac.length === MAC_BYTES && timingSafeEqual(mac, this.#mac(0x00, data)))
            return data;
        throw new ProtocolError('an answer that the chip did not sign');
    }
}
/** CRC-32 without its last inversion, low byte first. */
export function checksum(bytes) {
    let crc = 0xffffffff;
    for (const byte of bytes) {
        crc ^= byte;
        for (let bit = 0; bit < 8; bit++)
            crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
    }
    const result = Buffer.alloc(4);
    result.writeUInt32LE(crc >>> 0);
    return result;
}
