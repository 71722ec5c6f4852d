import { createHash, randomInt } from 'node:crypto';

/** Digits and letters without those that are easily confused. 8 characters have 39 bits. */
const ALPHABET = '23456789ABCDEFGHJKMNPQRSTVWXYZ';
const LENGTH = 8;

/** Creates a code that people read from one screen and type into another, such as `7KMP-3XWR`. */
export function newShortCode(): string {
  const letters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  return `${letters.slice(0, 4).join('')}-${letters.slice(4).join('')}`;
}

/** Returns the hash of a code, to be stored. A code for one purpose is not valid for another. */
export function hashShortCode(purpose: 'pairing' | 'manager', code: string): Buffer {
  const plain = code.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');
  return createHash('sha256').update(`${purpose} ${plain}`).digest();
}
