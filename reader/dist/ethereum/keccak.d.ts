/** Keccak-256 as Ethereum uses it, which the OpenSSL of Node 20 does not have. */
export declare function keccak256(message: Uint8Array): Buffer;
