import { hash } from 'node:crypto';

/**
 * SHA-256 of bytes, or of a text as UTF-8. In one call, and with the digest brought as characters:
 * a hash object, or a digest made as a buffer by OpenSSL's binding, takes twice the time, and every
 * create needs six of them.
 */
export function sha256(data: Buffer | string): Buffer {
  return Buffer.from(hash('sha256', data, 'binary'), 'binary');
}
