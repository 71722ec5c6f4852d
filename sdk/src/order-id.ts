import { UsageError } from './error-classes.ts';

const FITS = /^[A-Za-z0-9_-]{1,8}$/;
/** The characters that the service accepts, in the order of base64url. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const LENGTH = 8;
const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;

/**
 * Derives a valid `order_id` from your shop's own order name. A name of up to 8 valid characters
 * stays unchanged; a longer one (`order_01HZ…`, a UUID) always maps to the same 8 characters. If
 * two orders ever map to the same id, the second is refused with `order_id_in_use`, so two orders
 * are never paid as one. All Tapline clients derive the same ids.
 */
export function orderId(order: string): string {
  if (typeof order !== 'string' || order === '') {
    const given = order === '' ? 'an empty string' : `the ${typeof order} ${order}`;
    throw new UsageError(`orderId() received ${given}. It takes a string: orderId('order_01HZX').`);
  }
  return FITS.test(order) ? order : lettersOf(hash(order));
}

/**
 * 64-bit FNV-1a, which is simple in every language. WebCrypto's hashes would make this function
 * async.
 */
function hash(text: string): bigint {
  let value = OFFSET;
  for (const byte of new TextEncoder().encode(text)) {
    value = BigInt.asUintN(64, (value ^ BigInt(byte)) * PRIME);
  }
  return value;
}

/** Folds 64 bits into 48. */
function lettersOf(value: bigint): string {
  let rest = BigInt.asUintN(48, value) ^ (value >> 48n);
  let text = '';
  while (text.length < LENGTH) {
    text = LETTERS[Number(rest & 63n)] + text;
    rest >>= 6n;
  }
  return text;
}
