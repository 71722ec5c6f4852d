import { type Transceive } from './apdu.ts';
import type { ProveCollector } from './collector.ts';
import { type PassType } from './vas.ts';
/** What a customer holds against the reader, read to its end: the one order of questions. */
/** Which wallets this till can read. */
export interface Wallets {
    readonly collector: ProveCollector | null;
    readonly passType: PassType | null;
}
/** What the device API takes for a tap. The values are secrets: never log them. */
export interface TapCredential {
    readonly type: 'smart_tap' | 'apple_vas' | 'nfc_sun' | 'nfc_id';
    readonly value: string;
}
export type Tap = {
    readonly status: 'read';
    readonly credential: TapCredential;
}
/** A chip signed what `ToSign` gave. All of it in hex. */
 | {
    readonly status: 'signed';
    readonly signed: SignedByChip;
}
/** A chip that signs, and nobody asks for money, or the network did not say what to sign. */
 | {
    readonly status: 'nothing_to_sign';
}
/** A wallet of a kind that this till reads, but without a pass of this network. */
 | {
    readonly status: 'no_pass';
}
/** The phone wants to be unlocked, or a pass to be chosen; the customer taps again. */
 | {
    readonly status: 'tap_again';
}
/** A bank card, a ticket, an empty tag. */
 | {
    readonly status: 'not_a_payment_card';
}
/** It left before it was read. */
 | {
    readonly status: 'gone';
}
/** It answered in a way that its protocol does not know, or too slowly. */
 | {
    readonly status: 'unreadable';
    readonly reason: string;
};
export interface SignedByChip {
    /** 65 bytes. */
    readonly public_key: string;
    readonly digest: string;
    /** 32 bytes each. */
    readonly r: string;
    readonly s: string;
}
/** What a chip with this key (65 bytes) signs now: 32 bytes, or null. */
export type ToSign = (publicKey: Uint8Array) => Promise<Uint8Array | null>;
export declare const WALLET_AID: Uint8Array<ArrayBuffer>;
/** A customer holds a phone for about a second; what takes longer than two never ends. */
export declare const LONGEST_TAP_MS = 2000;
/** Reads one tap. Never rejects: every end is a value. */
export declare function readTap(transceive: Transceive, wallets: Wallets, toSign?: ToSign): Promise<Tap>;
/** Format, the phone's nonce of this conversation (it makes the value single-use), the value. */
export declare function smartTapValue(read: {
    readonly value: Uint8Array;
    readonly deviceNonce: Uint8Array;
}): string;
/** Format, the phone's time in Unix seconds (it makes the value short-lived), the message. */
export declare function vasValue(read: {
    readonly message: Uint8Array;
    readonly at: Date;
}): string;
