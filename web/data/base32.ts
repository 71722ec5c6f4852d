const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/**
 * Encodes bytes in base32 (RFC 4648) without padding: letters and digits, which any reader can
 * type.
 */
export function toBase32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  const letters = bits.match(/.{1,5}/g) ?? [];
  return letters.map((five) => ALPHABET.charAt(Number.parseInt(five.padEnd(5, '0'), 2))).join('');
}

/**
 * Decodes base32, with or without padding.
 * @throws RangeError for a character outside the alphabet.
 */
export function fromBase32(text: string): Uint8Array<ArrayBuffer> {
  const digits = [...text.replace(/=+$/, '')].map((letter) => ALPHABET.indexOf(letter));
  if (digits.includes(-1)) throw new RangeError('not base32');
  const bits = digits.map((digit) => digit.toString(2).padStart(5, '0')).join('');
  const bytes = bits.match(/.{8}/g) ?? [];
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2));
}
