import { ECDH } from 'node:crypto';
import { keccak256 } from './keccak.ts';

/**
 * What chips leave to us of a signature: which of two points it means, and whose it is. Nothing
 * here is secret, so plain integers do; OpenSSL has the curve, and does not say this of it.
 */

const CURVE = 'secp256k1';
const P = 2n ** 256n - 2n ** 32n - 977n;
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const G: Point = [
  0x79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798n,
  0x483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8n,
  1n,
];
const INFINITY: Point = [0n, 1n, 0n];

/** Jacobian: x/z², y/z³. */
type Point = readonly [bigint, bigint, bigint];

export interface EcdsaSignature {
  readonly r: bigint;
  readonly s: bigint;
}

export function integerOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex') || '0'}`);
}

export function mod(value: bigint, by: bigint): bigint {
  const rest = value % by;
  return rest < 0n ? rest + by : rest;
}

export function inverse(value: bigint, by: bigint): bigint {
  let [a, b, x, y] = [mod(value, by), by, 1n, 0n];
  while (a > 1n) {
    const quotient = b / a;
    [a, b] = [b - quotient * a, a];
    [x, y] = [y - quotient * x, x];
  }
  return mod(x, by);
}

function double([x, y, z]: Point): Point {
  if (z === 0n) return INFINITY;
  const yy = (y * y) % P;
  const s = (4n * x * yy) % P;
  const m = (3n * x * x) % P;
  const x3 = mod(m * m - 2n * s, P);
  return [x3, mod(m * (s - x3) - 8n * yy * yy, P), (2n * y * z) % P];
}

function add(one: Point, other: Point): Point {
  if (one[2] === 0n) return other;
  if (other[2] === 0n) return one;
  const [za, zb] = [(one[2] * one[2]) % P, (other[2] * other[2]) % P];
  const [ua, ub] = [(one[0] * zb) % P, (other[0] * za) % P];
  const [sa, sb] = [(one[1] * zb * other[2]) % P, (other[1] * za * one[2]) % P];
  if (ua === ub) return sa === sb ? double(one) : INFINITY;
  const h = mod(ub - ua, P);
  const r = mod(sb - sa, P);
  const hh = (h * h) % P;
  const v = (ua * hh) % P;
  const x = mod(r * r - h * hh - 2n * v, P);
  return [x, mod(r * (v - x) - sa * h * hh, P), (h * one[2] * other[2]) % P];
}

interface Times {
  readonly times: bigint;
  readonly point: Point;
}

/** @returns a·A + b·B as x and y; null for the point at infinity. */
function sum(a: Times, b: Times): { readonly x: bigint; readonly y: bigint } | null {
  let total = INFINITY;
  for (let bit = 255n; bit >= 0n; bit--) {
    total = double(total);
    if (((a.times >> bit) & 1n) === 1n) total = add(total, a.point);
    if (((b.times >> bit) & 1n) === 1n) total = add(total, b.point);
  }
  if (total[2] === 0n) return null;
  const z = inverse(total[2], P);
  return { x: (total[0] * z * z) % P, y: (total[1] * z * z * z) % P };
}

/** A public key, compressed or not, as 65 bytes; null for bytes that are none. */
export function wholeKey(bytes: Uint8Array): Buffer | null {
  try {
    return ECDH.convertKey(bytes, CURVE, undefined, undefined, 'uncompressed') as Buffer;
  } catch {
    return null;
  }
}

function pointOf(key: Uint8Array): Point {
  return [integerOf(key.subarray(1, 33)), integerOf(key.subarray(33)), 1n];
}

function isWithin({ r, s }: EcdsaSignature): boolean {
  return [r, s].every((part) => part > 0n && part < ORDER);
}

/** Ethereum's address, with its checksum. @param key 65 bytes. */
export function addressOf(key: Uint8Array): string {
  const address = keccak256(key.subarray(1)).subarray(-20).toString('hex');
  const check = keccak256(Buffer.from(address, 'latin1')).toString('hex');
  const digits = [...address].map((digit, at) =>
    (check[at] ?? '0') > '7' ? digit.toUpperCase() : digit,
  );
  return `0x${digits.join('')}`;
}

/**
 * The 65 bytes that a contract takes, in hex; null where this key did not sign this digest. Of the
 * two values of `s` a contract takes the lower alone (EIP-2).
 */
export function ethereumSignature(
  digest: Uint8Array,
  { r, s }: EcdsaSignature,
  key: Uint8Array,
): string | null {
  if (!isWithin({ r, s })) return null;
  const inverted = inverse(s, ORDER);
  const point = sum(
    { times: mod(integerOf(digest) * inverted, ORDER), point: G },
    { times: mod(r * inverted, ORDER), point: pointOf(key) },
  );
  if (point === null || mod(point.x, ORDER) !== r) return null;
  const isHigh = s > ORDER / 2n;
  const isOdd = (point.y & 1n) === 1n;
  const v = 27 + (isOdd === isHigh ? 0 : 1);
  const hex = (value: bigint) => value.toString(16).padStart(64, '0');
  return `0x${hex(r)}${hex(isHigh ? ORDER - s : s)}${v.toString(16)}`;
}

/** Who signed the digest; null where nobody can have. @param odd whether the point's y is odd. */
export function recoverKey(
  digest: Uint8Array,
  signature: EcdsaSignature,
  odd: boolean,
): Buffer | null {
  const { r, s } = signature;
  if (!isWithin(signature)) return null;
  const x = Buffer.from(r.toString(16).padStart(64, '0'), 'hex');
  const nonce = wholeKey(Buffer.concat([Uint8Array.from([odd ? 3 : 2]), x]));
  if (nonce === null) return null;
  const inverted = inverse(r, ORDER);
  const point = sum(
    { times: mod(-integerOf(digest) * inverted, ORDER), point: G },
    { times: mod(s * inverted, ORDER), point: pointOf(nonce) },
  );
  if (point === null) return null;
  const hex = (value: bigint) => value.toString(16).padStart(64, '0');
  return Buffer.from(`04${hex(point.x)}${hex(point.y)}`, 'hex');
}
