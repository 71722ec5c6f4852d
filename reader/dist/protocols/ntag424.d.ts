import { type Transceive } from './apdu.ts';
/**
 * The commands of an NTAG 424 DNA by which it is written, and its secure messaging. Sources: NXP's
 * data sheet of the chip (NT4H2421Gx) and AN12196, whose examples the tests repeat.
 */
export declare const NDEF_FILE = 2;
export declare const KEY_BYTES = 16;
/** Four keys beside the master key, which is number 0. */
export declare const OTHER_KEYS: readonly [1, 2, 3, 4];
/** What every key of a new chip is, and the version that goes with it. */
export declare const FACTORY_KEY: Uint8Array;
export declare const FACTORY_VERSION = 0;
/** The chip's number in upper case hex; null for a chip of another kind. */
export declare function chipNumber(transceive: Transceive): Promise<string | null>;
/** What its maker has signed of the chip's number; null for a chip that has no signature. */
export declare function makersSignature(transceive: Transceive): Promise<Uint8Array | null>;
/** What the chip says of a file; anybody may ask. */
export declare function fileSettings(transceive: Transceive, file: number): Promise<Buffer>;
/** A session with one of the chip's keys; null where the chip has another key. */
export declare function authenticate(transceive: Transceive, using: {
    readonly number: number;
    readonly key: Uint8Array;
}, random?: Uint8Array): Promise<SecureSession | null>;
export interface SessionKeys {
    /** The transaction identifier: 4 bytes. */
    readonly id: Uint8Array;
    readonly encryption: Uint8Array;
    readonly mac: Uint8Array;
}
/** Commands under the keys of one authentication. A wrong answer ends it. */
export declare class SecureSession {
    #private;
    constructor(transceive: Transceive, keys: SessionKeys, counter?: number);
    keyVersion(number: number): Promise<number>;
    /** Writes to a file whose content travels in the clear. */
    writeData(file: number, data: Uint8Array): Promise<void>;
    changeFileSettings(file: number, settings: Uint8Array): Promise<void>;
    /** Changes a key other than that of this session. */
    changeKey(number: number, change: KeyChange): Promise<void>;
    /** Changes the key of this session, which ends with it. */
    changeOwnKey(number: number, change: Omit<KeyChange, 'from'>): Promise<void>;
}
export interface KeyChange {
    readonly from: Uint8Array;
    readonly to: Uint8Array;
    readonly version: number;
}
/** CRC-32 without its last inversion, low byte first. */
export declare function checksum(bytes: Uint8Array): Buffer;
