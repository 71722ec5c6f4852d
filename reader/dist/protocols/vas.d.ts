import { type Transceive } from './apdu.ts';
import type { EphemeralKey } from './p256.ts';
/**
 * Apple VAS: the reader names a pass type, and the phone gives that pass's message, encrypted to
 * the key in the pass. The protocol gives no nonce, so the phone's time is what tells an old
 * answer from a new one.
 */
/** A pass type of ours and the key pair whose public half stands in its passes. */
export interface PassType {
    /** For example `pass.com.example.wallet`. */
    readonly identifier: string;
    readonly key: EphemeralKey;
}
export type Vas = {
    readonly status: 'read';
    readonly message: Uint8Array;
    readonly at: Date;
} | {
    readonly status: 'no_pass';
}
/** The phone wants to be unlocked first: the same phone comes again. */
 | {
    readonly status: 'tap_again';
};
export declare function readVas(transceive: Transceive, passType: PassType): Promise<Vas>;
/** What the phone sent, as its answer carries it: which key, whose key, sealed message. */
export interface Cryptogram {
    readonly keyId: Uint8Array;
    readonly deviceX: Uint8Array;
    readonly sealed: Uint8Array;
}
export declare function cryptogramOf(data: Uint8Array): Cryptogram;
/** The name under which an answer refers to a key: the hash of its x coordinate. */
export declare function keyIdOf(key: EphemeralKey): Uint8Array;
/** X9.63 with one round: 32 bytes are all that is needed. */
export declare function deriveKey(shared: Uint8Array, passIdentifier: string): Uint8Array;
/** Each key is used once, so the initial vector is all zeroes. */
export declare const VAS_IV: Uint8Array<ArrayBuffer>;
