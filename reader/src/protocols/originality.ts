import { createECDH, ECDH } from 'node:crypto';
import { integerOf, inverse, mod } from '../ethereum/secp256k1.ts';

/**
 * NXP signs the number of each chip when it makes it: ECDSA over secp224r1, of the number itself
 * instead of a hash (AN12196). OpenSSL has the curve, but verifies hashes alone.
 */

const CURVE = 'secp224r1';
const P = 2n ** 224n - 2n ** 96n + 1n;
const ORDER = 0xffffffffffffffffffffffffffff16a2e0b8f03e13dd29455c5c2a3dn;
const PART_BYTES = 28;

/** By which NXP signs chips of the kind NTAG 424 DNA. */
export const NXP_KEY: Uint8Array = Uint8Array.from(
  Buffer.from(
    '048a9b380af2ee1b98dc417fecc263f8449c7625cece82d9b916c992da' +
      '209d68422b81ec20b65a66b5102a61596af3379200599316a00a1410',
    'hex',
  ),
);

/** @param uid 7 bytes. @param signature r and s, 28 bytes each. */
export function isOriginal(
  uid: Uint8Array,
  signature: Uint8Array,
  maker: Uint8Array = NXP_KEY,
): boolean {
  if (signature.length !== 2 * PART_BYTES) return false;
  const r = integerOf(signature.subarray(0, PART_BYTES));
  const s = integerOf(signature.subarray(PART_BYTES));
  if ([r, s].some((part) => part <= 0n || part >= ORDER)) return false;
  const inverted = inverse(s, ORDER);
  try {
    const own = timesBase(mod(integerOf(uid) * inverted, ORDER));
    // OpenSSL says of this point x alone. Of the two that it can be, the other one means the key
    // with the opposite sign, which is as hard to sign with.
    const theirs = timesPoint(mod(r * inverted, ORDER), maker);
    return ['02', '03'].some((sign) => mod(sumX(own, wholePoint(sign, theirs)), ORDER) === r);
  } catch {
    // A point at infinity, or one that is not on the curve.
    return false;
  }
}

interface Point {
  readonly x: bigint;
  readonly y: bigint;
}

function bytesOf(value: bigint): Buffer {
  return Buffer.from(value.toString(16).padStart(2 * PART_BYTES, '0'), 'hex');
}

function pointIn(bytes: Buffer): Point {
  return {
    x: integerOf(bytes.subarray(1, 1 + PART_BYTES)),
    y: integerOf(bytes.subarray(1 + PART_BYTES)),
  };
}

function ecdhOf(times: bigint): ECDH {
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(bytesOf(times));
  return ecdh;
}

function timesBase(times: bigint): Point {
  return pointIn(ecdhOf(times).getPublicKey());
}

function timesPoint(times: bigint, point: Uint8Array): bigint {
  return integerOf(ecdhOf(times).computeSecret(point));
}

function wholePoint(sign: string, x: bigint): Point {
  const short = Buffer.concat([Buffer.from(sign, 'hex'), bytesOf(x)]);
  return pointIn(ECDH.convertKey(short, CURVE, undefined, undefined, 'uncompressed') as Buffer);
}

function sumX(a: Point, b: Point): bigint {
  if (a.x === b.x) throw new RangeError('not the sum of two different points');
  const slope = mod((b.y - a.y) * inverse(b.x - a.x, P), P);
  return mod(slope * slope - a.x - b.x, P);
}
