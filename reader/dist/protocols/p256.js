import { createECDH, createPrivateKey } from 'node:crypto';
import { ProtocolError } from './apdu.js';
/** Keys of the curve P-256, in the forms in which cards and passes carry them. */
const CURVE = 'prime256v1';
export function createEphemeralKey() {
    const ecdh = createECDH(CURVE);
    ecdh.generateKeys();
    const publicKey = compressed(ecdh);
    return { publicKey, agree: (theirs) => agreeWith(ecdh, theirs) };
}
/** A key pair that was kept, from its 32 private bytes. */
export function openKey(privateKey) {
    const ecdh = createECDH(CURVE);
    ecdh.setPrivateKey(privateKey);
    const publicKey = compressed(ecdh);
    return { publicKey, agree: (theirs) => agreeWith(ecdh, theirs) };
}
/** 33 bytes: which of the two points, and its x coordinate. */
function compressed(ecdh) {
    const point = ecdh.getPublicKey();
    return Uint8Array.from([((point[64] ?? 0) & 1) + 2, ...point.subarray(1, 33)]);
}
/** @param theirs a public key, compressed or not. @returns the x coordinate: 32 bytes. */
function agreeWith(ecdh, theirs) {
    try {
        return Uint8Array.from(ecdh.computeSecret(theirs));
    }
    catch (error) {
        throw new ProtocolError('a public key that is not on the curve', { cause: error });
    }
}
/** 32 private bytes as a key that signs. */
export function signingKey(privateKey) {
    const ecdh = createECDH(CURVE);
    ecdh.setPrivateKey(privateKey);
    const point = ecdh.getPublicKey();
    const base64url = (bytes) => Buffer.from(bytes).toString('base64url');
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
