/** AES-128 as smart cards use it: CBC without padding, and CMAC (RFC 4493). */
export declare const BLOCK = 16;
export declare const ZERO_BLOCK: Uint8Array;
export declare function encryptCbc(key: Uint8Array, plain: Uint8Array, iv?: Uint8Array<ArrayBufferLike>): Buffer;
export declare function decryptCbc(key: Uint8Array, sealed: Uint8Array, iv?: Uint8Array<ArrayBufferLike>): Buffer;
/** ISO/IEC 9797-1, method 2: one bit, then zeros; a whole block where it fits already. */
export declare function pad(bytes: Uint8Array): Buffer;
export declare function cmac(key: Uint8Array, message: Uint8Array): Buffer;
/** Every second byte, as NXP's chips shorten a MAC. */
export declare function shortMac(key: Uint8Array, message: Uint8Array): Buffer;
