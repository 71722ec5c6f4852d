import { getAddress, isAddress, isHex } from 'viem';
/**
 * What x402 (version 2) sends over the wire, as far as the scheme `exact` with EIP-3009 needs it.
 * Written here, so that a seller installs nothing of x402; the tests run the real packages.
 */
export const X402_VERSION = 2;
export const SCHEME = 'exact';
function isObject(value) {
    return typeof value === 'object' && value !== null && !Array.isArray(value);
}
/** Atoms and seconds are decimal text; anything longer is no number that a token knows. */
function integerOf(value) {
    return typeof value === 'string' && /^\d{1,78}$/.test(value) ? BigInt(value) : null;
}
function addressOf(value) {
    return typeof value === 'string' && isAddress(value, { strict: false })
        ? getAddress(value)
        : null;
}
function hexOf(value, bytes) {
    if (typeof value !== 'string' || !isHex(value) || value.length % 2 !== 0)
        return null;
    const length = (value.length - 2) / 2;
    return length >= bytes.least && length <= bytes.most ? value : null;
}
/** @returns null where it is nothing that the scheme `exact` sends by EIP-3009 */
export function authorizationOf(payload) {
    if (!isObject(payload) || !isObject(payload.payload))
        return null;
    const { authorization, signature } = payload.payload;
    if (!isObject(authorization))
        return null;
    const read = {
        from: addressOf(authorization.from),
        to: addressOf(authorization.to),
        value: integerOf(authorization.value),
        validAfter: integerOf(authorization.validAfter),
        validBefore: integerOf(authorization.validBefore),
        nonce: hexOf(authorization.nonce, { least: 32, most: 32 }),
        // A smart wallet's may be long; one of 10 KB is none.
        signature: hexOf(signature, { least: 64, most: 10_000 }),
    };
    return Object.values(read).includes(null) ? null : read;
}
export function requirementsOf(value) {
    if (!isObject(value))
        return null;
    const { scheme, network, asset, amount, payTo, maxTimeoutSeconds, extra = {} } = value;
    const texts = [scheme, network, asset, amount, payTo].every((one) => typeof one === 'string');
    if (!texts || typeof maxTimeoutSeconds !== 'number' || !isObject(extra))
        return null;
    return value;
}
/** A value of the headers `PAYMENT-REQUIRED` and `PAYMENT-RESPONSE`. */
export function encodeHeader(value) {
    return Buffer.from(JSON.stringify(value)).toString('base64');
}
/** @returns null where the header is not what a client sends */
export function decodeHeader(text) {
    try {
        return JSON.parse(Buffer.from(text, 'base64').toString('utf8'));
    }
    catch {
        return null;
    }
}
