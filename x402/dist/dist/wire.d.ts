import { type Address, type Hex } from 'viem';
/**
 * What x402 (version 2) sends over the wire, as far as the scheme `exact` with EIP-3009 needs it.
 * Written here, so that a seller installs nothing of x402; the tests run the real packages.
 */
export declare const X402_VERSION = 2;
export declare const SCHEME = "exact";
/** What a seller asks for. All of it counts: one signature buys what was asked for, once. */
export interface Requirements {
    readonly scheme: string;
    /** `eip155:<chain id>` */
    readonly network: string;
    readonly asset: string;
    /** Atoms, as text. */
    readonly amount: string;
    readonly payTo: string;
    readonly maxTimeoutSeconds: number;
    readonly extra: Readonly<Record<string, unknown>>;
}
/** An EIP-3009 `TransferWithAuthorization`, with its signature. */
export interface Authorization {
    readonly from: Address;
    readonly to: Address;
    readonly value: bigint;
    /** Unix seconds. */
    readonly validAfter: bigint;
    readonly validBefore: bigint;
    readonly nonce: Hex;
    readonly signature: Hex;
}
export interface Verified {
    readonly isValid: boolean;
    readonly invalidReason?: string;
    readonly invalidMessage?: string;
    readonly payer?: string;
}
export interface Settled {
    readonly success: boolean;
    readonly errorReason?: string;
    readonly errorMessage?: string;
    readonly payer?: string;
    /** What took the money from the client; empty where nothing was sent. */
    readonly transaction: string;
    readonly network: string;
    readonly amount?: string;
    /** `paymentIntent`: what the client has paid, in the merchant's books. */
    readonly extra?: {
        readonly paymentIntent: string;
    };
}
export interface PaymentRequired {
    readonly x402Version: number;
    readonly error: string;
    readonly resource: {
        readonly url: string;
        readonly description?: string;
    };
    readonly accepts: readonly Requirements[];
}
/** @returns null where it is nothing that the scheme `exact` sends by EIP-3009 */
export declare function authorizationOf(payload: unknown): Authorization | null;
export declare function requirementsOf(value: unknown): Requirements | null;
/** A value of the headers `PAYMENT-REQUIRED` and `PAYMENT-RESPONSE`. */
export declare function encodeHeader(value: object): string;
/** @returns null where the header is not what a client sends */
export declare function decodeHeader(text: string): unknown;
