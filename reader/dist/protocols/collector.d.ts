import { type KeyObject } from 'node:crypto';
/** How a reader proves to a phone with Google Wallet whose it is. */
/** What has to be signed for one tap. */
export interface TapToProve {
    readonly readerNonce: Uint8Array;
    readonly phoneNonce: Uint8Array;
    /** Of the reader, for this tap: 33 bytes. */
    readonly readerKey: Uint8Array;
}
export interface CollectorProof {
    /** The number that Google gave, up to 2^32 - 1. */
    readonly collectorId: number;
    readonly keyVersion: number;
    /** By the key whose public half Google knows. DER. */
    readonly signature: Uint8Array;
}
/** Signs a tap. null: Smart Tap is off for this terminal. */
export type ProveCollector = (tap: TapToProve) => Promise<CollectorProof | null>;
/** For programs of your own that have the key themselves. */
export declare function collectorWithKey(collector: {
    readonly id: number;
    readonly keyVersion: number;
    readonly privateKey: KeyObject;
}): ProveCollector;
/** As the device API takes it. */
export declare function proofFrom({ readerNonce, phoneNonce, readerKey }: TapToProve): {
    reader_nonce: string;
    phone_nonce: string;
    reader_key: string;
};
/** What the device API answers. @throws ProtocolError for anything else. */
export declare function proofOf(answer: unknown): CollectorProof;
export declare function number32(value: number): Uint8Array;
