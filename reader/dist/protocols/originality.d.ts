/** By which NXP signs chips of the kind NTAG 424 DNA. */
export declare const NXP_KEY: Uint8Array;
/** @param uid 7 bytes. @param signature r and s, 28 bytes each. */
export declare function isOriginal(uid: Uint8Array, signature: Uint8Array, maker?: Uint8Array<ArrayBufferLike>): boolean;
