import { type KeyObject } from 'node:crypto';
export interface EphemeralKey {
    /** 33 bytes: compressed. */
    readonly publicKey: Uint8Array;
    agree(theirs: Uint8Array): Uint8Array;
}
export declare function createEphemeralKey(): EphemeralKey;
/** A key pair that was kept, from its 32 private bytes. */
export declare function openKey(privateKey: Uint8Array): EphemeralKey;
/** 32 private bytes as a key that signs. */
export declare function signingKey(privateKey: Uint8Array): KeyObject;
