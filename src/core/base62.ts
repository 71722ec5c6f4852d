/**
 * The digits are in ASCII order, so that strings of equal length sort like the numbers they encode.
 */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** As many digits as fit into an exact JavaScript number: 62^8 < 2^53. */
const CHUNK_DIGITS = 8;
const CHUNK = 62n ** BigInt(CHUNK_DIGITS);

/**
 * Encodes the number in exactly `length` characters. Digits that do not fit are dropped from the
 * front.
 */
export function base62(value: bigint, length: number): string {
  let rest = value;
  let text = '';
  // Works in chunks, because dividing a bigint costs twenty times as much as dividing a number.
  for (let left = length; left > 0; left -= CHUNK_DIGITS) {
    let chunk = Number(rest % CHUNK);
    for (let i = Math.min(left, CHUNK_DIGITS); i > 0; i--) {
      text = ALPHABET.charAt(chunk % 62) + text;
      chunk = Math.floor(chunk / 62);
    }
    rest /= CHUNK;
  }
  return text;
}

/** Decodes `text`. Returns null if a character is not base62. */
export function fromBase62(text: string): bigint | null {
  let value = 0n;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return null;
    value = value * 62n + BigInt(digit);
  }
  return value;
}
