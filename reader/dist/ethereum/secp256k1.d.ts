export interface EcdsaSignature {
    readonly r: bigint;
    readonly s: bigint;
}
export declare function integerOf(bytes: Uint8Array): bigint;
export declare function mod(value: bigint, by: bigint): bigint;
export declare function inverse(value: bigint, by: bigint): bigint;
/** A public key, compressed or not, as 65 bytes; null for bytes that are none. */
export declare function wholeKey(bytes: Uint8Array): Buffer | null;
/** Ethereum's address, with its checksum. @param key 65 bytes. */
export declare function addressOf(key: Uint8Array): string;
/**
 * The 65 bytes that a contract takes, in hex; null where this key did not sign this digest. Of the
 * two values of `s` a contract takes the lower alone (EIP-2).
 */
export declare function ethereumSignature(digest: Uint8Array, { r, s }: EcdsaSignature, key: Uint8Array): string | null;
/** Who signed the digest; null where nobody can have. @param odd whether the point's y is odd. */
export declare function recoverKey(digest: Uint8Array, signature: EcdsaSignature, odd: boolean): Buffer | null;
