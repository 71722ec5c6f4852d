import { createECDH, createPrivateKey, type ECDH, type KeyObject } from 'node:crypto';
import { ProtocolError } from './apdu.ts';

/** P-256 keys in the formats that cards and passes use. */
const CURVE = 'prime256v1';

export interface EphemeralKey {
  /** 33 bytes, compressed. */
  readonly publicKey: Uint8Array;
  agree(theirs: Uint8Array): Uint8Array;
}

export function createEphemeralKey(): EphemeralKey {
  const ecdh = createECDH(CURVE);
  ecdh.generateKeys();
  const publicKey = compressed(ecdh);
  return { publicKey, agree: (theirs) => agreeWith(ecdh, theirs) };
}

/** Opens a stored key pair from its 32-byte private key. */
export function openKey(privateKey: Uint8Array): EphemeralKey {
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(privateKey);
  const publicKey = compressed(ecdh);
  return { publicKey, agree: (theirs) => agreeWith(ecdh, theirs) };
}

/** Returns the compressed key in 33 bytes: the parity of y, and the x coordinate. */
function compressed(ecdh: ECDH): Uint8Array {
  const point = ecdh.getPublicKey();
  return Uint8Array.from([((point[64] ?? 0) & 1) + 2, ...point.subarray(1, 33)]);
}

/**
 * Agrees on a secret.
 * @param theirs A public key, compressed or not.
 * @returns the shared x coordinate, 32 bytes.
 */
function agreeWith(ecdh: ECDH, theirs: Uint8Array): Uint8Array {
  try {
    return Uint8Array.from(ecdh.computeSecret(theirs));
  } catch (error) {
    throw new ProtocolError('the public key is not on the curve', { cause: error });
  }
}

export function signingKey(privateKey: Uint8Array): KeyObject {
  const ecdh = createECDH(CURVE);
  ecdh.setPrivateKey(privateKey);
  const point = ecdh.getPublicKey();
  const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  return createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      d: base64url(privateKey),
      x: base64url(point.subarray(1, 33)),
      y: base64url(point.subarray(33)),
    },
  });
}
