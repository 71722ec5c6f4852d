import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToNumberBE } from '@noble/curves/utils.js';
import { keccak_256 } from '@noble/hashes/sha3.js';

const { BASE, Fn: scalars } = secp256k1.Point;

export interface EcdsaSignature {
  readonly r: bigint;
  readonly s: bigint;
}

/** Returns a public key, compressed or not, as 65 bytes, or `null` if the bytes are not a key. */
export function wholeKey(bytes: Uint8Array): Buffer | null {
  try {
    return Buffer.from(secp256k1.Point.fromBytes(bytes).toBytes(false));
  } catch {
    return null;
  }
}

/** Returns the Ethereum address with its checksum. @param key 65 bytes. */
export function addressOf(key: Uint8Array): string {
  const address = Buffer.from(keccak_256(key.subarray(1)).subarray(-20)).toString('hex');
  const check = Buffer.from(keccak_256(Buffer.from(address, 'latin1'))).toString('hex');
  const digits = [...address].map((digit, at) =>
    (check[at] ?? '0') > '7' ? digit.toUpperCase() : digit,
  );
  return `0x${digits.join('')}`;
}

/**
 * Recovers the key that signed the digest; `null` if there is none. @param odd True if the point's
 * y is odd.
 */
export function recoverKey(
  digest: Uint8Array,
  { r, s }: EcdsaSignature,
  odd: boolean,
): Buffer | null {
  try {
    const signature = new secp256k1.Signature(r, s).addRecoveryBit(odd ? 1 : 0);
    return Buffer.from(signature.recoverPublicKey(digest).toBytes(false));
  } catch {
    return null;
  }
}

/**
 * Returns the 65-byte signature that contracts accept, in hex, or `null` if this key did not sign
 * this digest. Contracts accept only the lower of the two values of `s` (EIP-2).
 */
export function ethereumSignature(
  digest: Uint8Array,
  { r, s }: EcdsaSignature,
  key: Uint8Array,
): string | null {
  if (![r, s].every((part) => scalars.isValidNot0(part))) return null;
  const lower = s > scalars.ORDER / 2n ? scalars.ORDER - s : s;
  const inverse = scalars.inv(lower);
  // Computes the signature's point here, because the library's `verify` does not return the parity
  // of y.
  const { x, y } = BASE.mulAddUnsafe(
    scalars.create(bytesToNumberBE(digest) * inverse),
    secp256k1.Point.fromBytes(key),
    scalars.create(r * inverse),
  );
  if (x !== r) return null;
  const hex = (value: bigint) => value.toString(16).padStart(64, '0');
  return `0x${hex(r)}${hex(lower)}${(27 + Number(y & 1n)).toString(16)}`;
}
