import { UsageError } from './errors.ts';

const FITS = /^[A-Za-z0-9_-]{1,8}$/;
/** What the service takes, in the order of base64url. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const LENGTH = 8;
const OFFSET = 0xcbf29ce484222325n;
const PRIME = 0x100000001b3n;

/**
 * The `order_id` of an order of your shop, whatever its name: one of 8 characters or fewer stays as
 * it is, and of a longer one (`order_01HZ…`, a UUID) 8 characters are made, always the same. Should
 * two orders ever get the same, the second is refused with `order_id_in_use`; never are two orders
 * paid as one. All clients of Tapline make the same ids.
 */
export function orderId(order: string): string {
  if (typeof order !== 'string' || order === '') {
    const given = order === '' ? 'an empty text' : `the ${typeof order} ${order}`;
    throw new UsageError(`orderId() was given ${given}. It takes text: orderId('order_01HZX').`);
  }
  return FITS.test(order) ? order : lettersOf(hash(order));
}

/** FNV-1a of 64 bits, which every language has: WebCrypto's hashes would make this a promise. */
function hash(text: string): bigint {
  let value = OFFSET;
  for (const byte of new TextEncoder().encode(text)) {
    value = BigInt.asUintN(64, (value ^ BigInt(byte)) * PRIME);
  }
  return value;
}

/** The 64 bits folded into 48. */
function lettersOf(value: bigint): string {
  let rest = BigInt.asUintN(48, value) ^ (value >> 48n);
  let text = '';
  while (text.length < LENGTH) {
    text = LETTERS[Number(rest & 63n)] + text;
    rest >>= 6n;
  }
  return text;
}
