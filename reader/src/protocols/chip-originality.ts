import { ecdsa, weierstrass } from '@noble/curves/abstract/weierstrass.js';
import { sha224 } from '@noble/hashes/sha2.js';

/**
 * NXP signs each chip's UID in the factory: ECDSA over secp224r1, of the UID itself instead of a
 * hash (AN12196). OpenSSL supports the curve, but only verifies hashes.
 */

/** The curve's parameters: SEC 2, section 2.6.2. */
const secp224r1 = weierstrass({
  p: 2n ** 224n - 2n ** 96n + 1n,
  n: 0xffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3dn,
  h: 1n,
  a: 2n ** 224n - 2n ** 96n - 2n,
  b: 0xb4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4n,
  Gx: 0xb70e0cbd6bb4bf7f321390b94a03c1d356c21122343280d6115c1d21n,
  Gy: 0xbd376388b5f723fb4c22dfe6cd4375a05a07476444d5819985007e34n,
});
/** The hash is required by the constructor but unused with `prehash: false`. */
const { verify } = ecdsa(secp224r1, sha224);

/** NXP's public key for NTAG 424 DNA chips. */
export const NXP_KEY: Uint8Array = Uint8Array.from(
  Buffer.from(
    '048a9b380af2ee1b98dc417fecc263f8449c7625cece82d9b916c992da' +
      '209d68422b81ec20b65a66b5102a61596af3379200599316a00a1410',
    'hex',
  ),
);

/** True if NXP signed this UID. @param uid 7 bytes. @param signature r and s, 28 bytes each. */
export function isOriginal(
  uid: Uint8Array,
  signature: Uint8Array,
  maker: Uint8Array = NXP_KEY,
): boolean {
  try {
    return verify(signature, uid, maker, { prehash: false, lowS: false });
  } catch {
    // The signature is not 56 bytes long.
    return false;
  }
}
