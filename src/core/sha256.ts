import { hash } from 'node:crypto';

/**
 * Returns the SHA-256 of bytes, or of a text as UTF-8. A single call with the digest as a string: a
 * hash object, or a digest as a buffer, takes twice the time, and every create needs six of them.
 */
export function sha256(data: Buffer | string): Buffer {
  return Buffer.from(hash('sha256', data, 'binary'), 'binary');
}
